# SPDX-License-Identifier: LGPL-3.0-or-later
for i in $(seq 200); do echo "Line $i of the text"; done >t.txt
soffice -env:UserInstallation="file://$PWD/u" --headless --convert-to odt t.txt >/dev/null 2>&1 || echo $?
unzip -p t.odt content.xml | grep -o "Line [0-9]* of" | wc -l
