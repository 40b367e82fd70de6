package pianola.ignite;

import java.util.HashMap;
import java.util.List;
import java.util.Map;

import org.apache.ignite.cluster.ClusterNode;
import org.apache.ignite.compute.ComputeJob;

/** The given number of jobs, shared out over the nodes, with nothing to give back. */
public final class Run extends CountingTask {
    private static final long serialVersionUID = 1L;

    @Override public Map<? extends ComputeJob, ClusterNode> map(List<ClusterNode> nodes, Object arg) {
        Map<ComputeJob, ClusterNode> m = new HashMap<>();
        for (int i = 0; i < jobs(arg); i++)
            m.put(new NoopJob(null), next());
        return m;
    }
}
