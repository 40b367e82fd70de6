import java.io.File;
import java.util.Map;
import java.util.TreeMap;
import org.HdrHistogram.EncodableHistogram;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.HistogramLogReader;

/** Prints what the classes of HdrHistogram find in a log: a line for each tag. */
public class ReadLog {
  public static void main(String[] args) throws Exception {
    HistogramLogReader log = new HistogramLogReader(new File(args[0]));
    Map<String, Histogram> sums = new TreeMap<>();
    Map<String, Integer> lines = new TreeMap<>();
    Map<String, String> spans = new TreeMap<>();
    EncodableHistogram next;
    while ((next = log.nextIntervalHistogram()) != null) {
      Histogram h = (Histogram) next;
      String tag = String.valueOf(h.getTag());
      sums.computeIfAbsent(tag, t -> new Histogram(1, 1000000000000000L, 3)).add(h);
      lines.merge(tag, 1, Integer::sum);
      spans.merge(tag, h.getStartTimeStamp() + "+" + (h.getEndTimeStamp() - h.getStartTimeStamp()), (a, b) -> a + " " + b);
    }
    System.out.printf("start time %.3f s%n", log.getStartTimeSec());
    for (Map.Entry<String, Histogram> e : sums.entrySet()) {
      Histogram h = e.getValue();
      System.out.printf("%s: %d lines, %d values, min %d, p50 %d, p90 %d, p95 %d, p99 %d, p99.9 %d, p99.99 %d, max %d, in ms %s%n",
          e.getKey(), lines.get(e.getKey()), h.getTotalCount(), h.getMinValue(), h.getValueAtPercentile(50), h.getValueAtPercentile(90),
          h.getValueAtPercentile(95), h.getValueAtPercentile(99), h.getValueAtPercentile(99.9), h.getValueAtPercentile(99.99),
          h.getMaxValue(), spans.get(e.getKey()));
    }
  }
}
