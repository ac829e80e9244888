mono m.exe
