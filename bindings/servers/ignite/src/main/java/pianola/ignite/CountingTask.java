package pianola.ignite;

import java.util.Collection;
import java.util.Collections;
import java.util.List;

import org.apache.ignite.Ignite;
import org.apache.ignite.cluster.ClusterNode;
import org.apache.ignite.compute.ComputeJobResult;
import org.apache.ignite.compute.ComputeLoadBalancer;
import org.apache.ignite.compute.ComputeTask;
import org.apache.ignite.compute.ComputeJobResultPolicy;
import org.apache.ignite.resources.IgniteInstanceResource;
import org.apache.ignite.resources.LoadBalancerResource;

/** What the five tasks share: a job that fails makes the task fail, and the answer is the number of jobs that ran. */
abstract class CountingTask implements ComputeTask<Object, Object> {
    private static final long serialVersionUID = 1L;

    @IgniteInstanceResource
    protected transient Ignite ignite;

    @LoadBalancerResource
    protected transient ComputeLoadBalancer balancer;

    @Override public ComputeJobResultPolicy result(ComputeJobResult one, List<ComputeJobResult> seen) {
        if (one.getException() != null)
            throw one.getException();
        return ComputeJobResultPolicy.WAIT;
    }

    @Override public Object reduce(List<ComputeJobResult> all) {
        return all.size();
    }

    /** The argument as a number of jobs; no argument means ten, as in the classic benchmark. */
    static int jobs(Object arg) {
        return arg == null ? 10 : ((Number)arg).intValue();
    }

    /** One of the nodes, in turn. */
    ClusterNode next() {
        return balancer.getBalancedNode(new NoopJob(null), Collections.emptyList());
    }

    static Object[] pair(Object arg) {
        Object[] a = arg instanceof Collection ? ((Collection<?>)arg).toArray() : (Object[])arg;
        if (a == null || a.length != 2)
            throw new IllegalArgumentException("want a cache name and a key");
        return a;
    }
}
