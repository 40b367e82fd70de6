import java.lang.management.ManagementFactory;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;

import com.sun.management.OperatingSystemMXBean;
import org.apache.ignite.Ignition;
import org.apache.ignite.binary.BinaryObject;
import org.apache.ignite.binary.BinaryObjectBuilder;
import org.apache.ignite.client.ClientCache;
import org.apache.ignite.client.IgniteClient;
import org.apache.ignite.client.IgniteClientFuture;
import org.apache.ignite.configuration.ClientConfiguration;

/**
 * Gets or puts records by Ignite's own thin client, with a number of requests in flight on its one connection. Each
 * answer sends the next request, on the thread that reads: no other way was found that costs this client less.
 *
 * Arguments: host:port cache get|put in-flight warmup-seconds seconds records.
 * Prints: operations, nanoseconds, nanoseconds of CPU of the process.
 */
public final class Loop {
    private static final AtomicLong done = new AtomicLong();
    private static final AtomicLong failed = new AtomicLong();
    private static final String value = "v".repeat(100);
    private static volatile boolean stop;

    private static IgniteClient client;
    private static ClientCache<String, BinaryObject> cache;
    private static boolean put;
    private static int records;
    private static CountDownLatch left;

    public static void main(String[] args) throws Exception {
        ClientConfiguration config = new ClientConfiguration().setAddresses(args[0]).setAsyncContinuationExecutor(Runnable::run);
        client = Ignition.startClient(config);
        cache = client.cache(args[1]).withKeepBinary();
        put = args[2].equals("put");
        records = Integer.parseInt(args[6]);
        int inFlight = Integer.parseInt(args[3]);
        left = new CountDownLatch(inFlight);
        for (int i = 0; i < inFlight; i++)
            next(i);
        Thread.sleep(Integer.parseInt(args[4]) * 1000L);
        OperatingSystemMXBean system = (OperatingSystemMXBean)ManagementFactory.getOperatingSystemMXBean();
        long ops = done.get(), began = System.nanoTime(), cpu = system.getProcessCpuTime();
        Thread.sleep(Integer.parseInt(args[5]) * 1000L);
        System.out.printf("%d %d %d%n", done.get() - ops, System.nanoTime() - began, system.getProcessCpuTime() - cpu);
        stop = true;
        left.await();
        if (failed.get() > 0)
            throw new IllegalStateException(failed.get() + " operations failed");
        client.close();
    }

    private static void next(int n) {
        if (stop) {
            left.countDown();
            return;
        }
        String key = "user" + n % records;
        IgniteClientFuture<?> answer = put ? cache.putAsync(key, record()) : cache.getAsync(key);
        answer.whenComplete((got, error) -> {
            if (error != null || !put && got == null)
                failed.incrementAndGet();
            done.incrementAndGet();
            next(n + 7919);
        });
    }

    private static BinaryObject record() {
        BinaryObjectBuilder b = client.binary().builder("CustomType");
        for (int i = 0; i < 10; i++)
            b.setField("field" + i, value);
        return b.build();
    }
}
