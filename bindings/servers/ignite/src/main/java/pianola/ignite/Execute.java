package pianola.ignite;

import java.util.HashMap;
import java.util.List;
import java.util.Map;

import org.apache.ignite.cluster.ClusterNode;
import org.apache.ignite.compute.ComputeJob;

/** The given number of jobs on every node. */
public final class Execute extends CountingTask {
    private static final long serialVersionUID = 1L;

    @Override public Map<? extends ComputeJob, ClusterNode> map(List<ClusterNode> nodes, Object arg) {
        Map<ComputeJob, ClusterNode> m = new HashMap<>();
        for (ClusterNode n : nodes)
            for (int i = 0; i < jobs(arg); i++)
                m.put(new NoopJob(null), n);
        return m;
    }
}
