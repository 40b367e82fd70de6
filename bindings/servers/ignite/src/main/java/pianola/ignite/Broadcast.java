package pianola.ignite;

import java.util.HashMap;
import java.util.List;
import java.util.Map;

import org.apache.ignite.cluster.ClusterNode;
import org.apache.ignite.compute.ComputeJob;

/** One job on every node; the argument is not looked at. */
public final class Broadcast extends CountingTask {
    private static final long serialVersionUID = 1L;

    @Override public Map<? extends ComputeJob, ClusterNode> map(List<ClusterNode> nodes, Object arg) {
        Map<ComputeJob, ClusterNode> m = new HashMap<>();
        for (ClusterNode n : nodes)
            m.put(new NoopJob(null), n);
        return m;
    }
}
