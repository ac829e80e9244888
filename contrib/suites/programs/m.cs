using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.Threading;

class M {
    static int F(int n, int k) {
        int s = 0;
        for (int i = 0; i < n; i++) s = (int)((s * 31L + i + k) % 1000003);
        return s;
    }

    static void Main() {
        var threads = new Thread[4];
        var results = new int[4];
        for (int k = 0; k < 4; k++) {
            int q = k;
            threads[k] = new Thread(() => { results[q] = F(2000000, q); });
            threads[k].Start();
        }
        foreach (var t in threads) t.Join();
        foreach (var r in results) Console.WriteLine(r);
        var kept = new List<object>();
        for (int i = 0; i < 500000; i++) kept.Add(new int[4]);
        GC.Collect();
        Console.WriteLine(kept.Count);
        try {
            object nothing = null;
            nothing.GetHashCode();
        } catch (NullReferenceException) {
            Console.WriteLine("null");
        }
        Thread.Sleep(200);
        Environment.Exit(3);
    }
}
