package pianola.ignite;

import java.util.List;
import java.util.Map;

import org.apache.ignite.cluster.ClusterNode;
import org.apache.ignite.compute.ComputeJob;

/** One job on the node that owns a key; the argument is a pair of cache name and key. */
public final class AffinityCall extends CountingTask {
    private static final long serialVersionUID = 1L;

    @Override public Map<? extends ComputeJob, ClusterNode> map(List<ClusterNode> nodes, Object arg) {
        Object[] p = pair(arg);
        ClusterNode owner = ignite.<Object>affinity((String)p[0]).mapKeyToNode(p[1]);
        if (owner == null)
            throw new IllegalStateException("no node owns the key");
        return Map.of(new NoopJob(null), owner);
    }
}
