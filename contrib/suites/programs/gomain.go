package main

/*
#include <unistd.h>
static int work(int n) { volatile int s = 0; for (int i = 0; i < n; i++) s = (s * 31 + i) % 1003; return s; }
static void rest(void) { usleep(20000); }
*/
import "C"

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"runtime/pprof"
	"sync"
	"syscall"
	"time"
)

func f(n, k int) int {
	s := 0
	for i := 0; i < n; i++ {
		s = (s*31 + i + k) % 1000003
	}
	return s
}

func echo() int64 {
	l, _ := net.Listen("tcp", "127.0.0.1:0")
	go func() {
		c, _ := l.Accept()
		io.Copy(io.Discard, c)
		c.Write([]byte("x"))
		c.Close()
	}()
	c, _ := net.Dial("tcp", l.Addr().String())
	n, _ := c.Write(make([]byte, 5000000))
	c.(*net.TCPConn).CloseWrite()
	rest, _ := io.ReadAll(c)
	return int64(n + len(rest))
}

func main() {
	var all sync.WaitGroup
	results := make([]int, 8)
	for k := 0; k < 8; k++ {
		all.Add(1)
		go func(k int) {
			defer all.Done()
			results[k] = f(3000000, k) + int(C.work(1000000))
			C.rest()
		}(k)
	}
	all.Wait()
	fmt.Println(results)
	fmt.Println(echo())
	c := make(chan os.Signal, 1)
	signal.Notify(c, syscall.SIGUSR1)
	syscall.Kill(os.Getpid(), syscall.SIGUSR1)
	fmt.Println(<-c)
	var b bytes.Buffer
	fmt.Println(pprof.StartCPUProfile(&b))
	f(60000000, 1)
	pprof.StopCPUProfile()
	fmt.Println(b.Len() > 100)
	fmt.Println(exec.Command("sh", "-c", "exit 3").Run())
	for i := 0; i < 20; i++ {
		runtime.GC()
	}
	time.Sleep(100 * time.Millisecond)
	func() {
		defer func() { fmt.Println("recovered", recover() != nil) }()
		var p *int
		*p = 1
	}()
	fmt.Fprintln(os.Stderr, "the end")
	os.Exit(4)
}
