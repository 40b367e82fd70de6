import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.AsyncConnection;
import org.apache.hadoop.hbase.client.AsyncTable;
import org.apache.hadoop.hbase.client.ConnectionFactory;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Put;

/**
 * Keeps operations in flight by HBase's own asynchronous client. Each line of its input says what to do, "get|put IN_FLIGHT
 * MILLISECONDS"; the answer is "OPERATIONS NANOSECONDS CPU_NANOSECONDS P50_NANOSECONDS P99_NANOSECONDS". An operation that ends
 * starts the next, on the thread that it ends on: there is no cheaper way to use the client.
 */
public class Loop {
  static final int RECORDS = 20000;
  static final byte[] FAMILY = bytes("family");
  static final byte[][] NAMES = new byte[10][];

  static byte[] bytes(String s) {
    return s.getBytes(StandardCharsets.UTF_8);
  }

  final AsyncTable<?> table;
  final boolean put;
  final long end;
  final AtomicLong n = new AtomicLong();
  final AtomicInteger samples = new AtomicInteger();
  final long[] took = new long[1 << 20];
  final CountDownLatch idle;
  final byte[] value = new byte[100];

  Loop(AsyncTable<?> table, boolean put, int inFlight, long millis) {
    this.table = table;
    this.put = put;
    this.end = System.nanoTime() + millis * 1_000_000;
    this.idle = new CountDownLatch(inFlight);
    Arrays.fill(value, (byte) 'v');
  }

  void next() {
    long start = System.nanoTime();
    if (start >= end) {
      idle.countDown();
      return;
    }
    byte[] key = bytes(String.format("user%06d", n.getAndIncrement() * 7919 % RECORDS));
    CompletableFuture<?> done;
    if (put) {
      Put p = new Put(key);
      for (byte[] name : NAMES) {
        p.addColumn(FAMILY, name, value);
      }
      done = table.put(p);
    } else {
      done = table.get(new Get(key).addFamily(FAMILY));
    }
    done.whenComplete((result, failure) -> {
      if (failure != null) {
        failure.printStackTrace();
        System.exit(1);
      }
      took[samples.getAndIncrement() % took.length] = System.nanoTime() - start;
      next();
    });
  }

  public static void main(String[] args) throws Exception {
    for (int i = 0; i < NAMES.length; i++) {
      NAMES[i] = bytes("field" + i);
    }
    var os = (com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
    var in = new BufferedReader(new InputStreamReader(System.in));
    try (AsyncConnection connection = ConnectionFactory.createAsyncConnection(HBaseConfiguration.create()).get()) {
      AsyncTable<?> table = connection.getTable(TableName.valueOf("usertable"));
      for (String line; (line = in.readLine()) != null; ) {
        String[] words = line.split(" ");
        int inFlight = Integer.parseInt(words[1]);
        Loop loop = new Loop(table, words[0].equals("put"), inFlight, Long.parseLong(words[2]));
        long cpu = os.getProcessCpuTime();
        long start = System.nanoTime();
        for (int i = 0; i < inFlight; i++) {
          loop.next();
        }
        loop.idle.await();
        long length = System.nanoTime() - start;
        cpu = os.getProcessCpuTime() - cpu;
        int count = Math.min(loop.samples.get(), loop.took.length);
        long[] sorted = Arrays.copyOf(loop.took, count);
        Arrays.sort(sorted);
        System.out.println(loop.samples.get() + " " + length + " " + cpu + " " + sorted[count / 2] + " " + sorted[(int) (count * 0.99)]);
      }
    }
  }
}
