java -cp . J || echo $?
java -Xint -XX:+UseSerialGC -cp . J || echo $?
