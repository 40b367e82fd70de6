package pianola.ignite;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import org.apache.ignite.cluster.ClusterNode;
import org.apache.ignite.compute.ComputeJob;
import org.apache.ignite.compute.ComputeJobResult;

/** The given number of jobs, shared out over the nodes; the answer is the list of what they gave back. */
public final class Apply extends CountingTask {
    private static final long serialVersionUID = 1L;

    @Override public Map<? extends ComputeJob, ClusterNode> map(List<ClusterNode> nodes, Object arg) {
        Map<ComputeJob, ClusterNode> m = new HashMap<>();
        for (int i = 0; i < jobs(arg); i++)
            m.put(new NoopJob(i), next());
        return m;
    }

    @Override public Object reduce(List<ComputeJobResult> all) {
        List<Object> out = new ArrayList<>(all.size());
        for (ComputeJobResult r : all)
            out.add(r.getData());
        return out;
    }
}
