import java.io.PrintStream;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.HistogramLogWriter;

/** Writes java.hlog with the classes of HdrHistogram itself. */
public class WriteLog {
  static final long START = 1772600767800L;

  public static void main(String[] args) throws Exception {
    HistogramLogWriter log = new HistogramLogWriter(new PrintStream(args[0]));
    log.outputComment("[Written by org.HdrHistogram.HistogramLogWriter of HdrHistogram 2.2.2]");
    log.outputLogFormatVersion();
    log.outputStartTime(START);
    log.outputBaseTime(START);
    log.setBaseTime(START);
    log.outputLegend();
    // The ramp 1 µs ... 100000 µs in two unequal intervals, then with a tag.
    for (String tag : new String[] {null, "run.READ.response"}) {
      log.outputIntervalHistogram(ramp(tag, 2000, 3000, 1, 60000));
      log.outputIntervalHistogram(ramp(tag, 3000, 3250, 60001, 100000));
      log.outputIntervalHistogram(ramp(tag, 3250, 4250, 1, 0));
    }
    log.close();
  }

  /** All whole microseconds between two, in an interval of times in ms. */
  static Histogram ramp(String tag, long from, long to, int first, int last) {
    Histogram h = new Histogram(1, 1000000000000000L, 3);
    h.setTag(tag);
    h.setStartTimeStamp(START + from);
    h.setEndTimeStamp(START + to);
    for (int us = first; us <= last; us++) {
      h.recordValue(us * 1000L);
    }
    return h;
  }
}
