public class J {
    static int f(int n, int k) {
        int s = 0;
        for (int i = 0; i < n; i++)
            s = (int) ((s * 31L + i + k) % 1000003);
        return s;
    }

    static int deep(int n) {
        return deep(n + 1) + 1;
    }

    public static void main(String[] arguments) throws Exception {
        Thread[] threads = new Thread[4];
        int[] results = new int[4];
        for (int k = 0; k < 4; k++) {
            int q = k;
            threads[k] = new Thread(() -> results[q] = f(1000000, q));
            threads[k].start();
        }
        for (Thread t : threads)
            t.join();
        for (int r : results)
            System.out.println(r);
        System.out.println(new ProcessBuilder("sh", "-c", "exit 3").start().waitFor());
        Thread.sleep(200);
        System.gc();
        try {
            deep(0);
        } catch (StackOverflowError e) {
            System.out.println("too deep");
        }
        try {
            Object nothing = null;
            nothing.hashCode();
        } catch (NullPointerException e) {
            System.out.println("null");
        }
        Runtime.getRuntime().addShutdownHook(new Thread(() -> System.out.println("hook")));
        System.exit(4);
    }
}
