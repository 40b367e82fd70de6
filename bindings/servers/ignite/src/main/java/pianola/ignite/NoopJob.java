package pianola.ignite;

import org.apache.ignite.compute.ComputeJobAdapter;

/** A job that does nothing; it answers with what it was given. */
final class NoopJob extends ComputeJobAdapter {
    private static final long serialVersionUID = 1L;

    private final Object answer;

    NoopJob(Object answer) {
        this.answer = answer;
    }

    @Override public Object execute() {
        return answer;
    }
}
