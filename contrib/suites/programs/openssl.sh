# SPDX-License-Identifier: LGPL-3.0-or-later
openssl genrsa -out key 1024 2>/dev/null
openssl req -x509 -key key -out cert -subj /CN=x -days 10 2>/dev/null
head -c 30000000 /dev/zero | openssl enc -aes-128-cbc -K 00 -iv 00 2>/dev/null | sha256sum
openssl speed -seconds 1 -multi 2 sha256 2>/dev/null | grep -c "^sha256" 
