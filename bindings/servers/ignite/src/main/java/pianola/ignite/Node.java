package pianola.ignite;

import java.io.File;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import org.apache.ignite.Ignite;
import org.apache.ignite.Ignition;
import org.apache.ignite.cluster.ClusterState;
import org.apache.ignite.configuration.ClientConnectorConfiguration;
import org.apache.ignite.configuration.DataRegionConfiguration;
import org.apache.ignite.configuration.DataStorageConfiguration;
import org.apache.ignite.configuration.IgniteConfiguration;
import org.apache.ignite.configuration.ThinClientConfiguration;
import org.apache.ignite.spi.communication.tcp.TcpCommunicationSpi;
import org.apache.ignite.spi.discovery.tcp.TcpDiscoverySpi;
import org.apache.ignite.spi.discovery.tcp.ipfinder.vm.TcpDiscoveryVmIpFinder;
import org.apache.ignite.ssl.SslContextFactory;

/**
 * One Ignite server node for tests. Every setting is a name=value argument:
 *
 *   port=10800           thin client port
 *   discovery=47500      discovery port
 *   comm=47100           communication port
 *   peers=               discovery addresses of the cluster, host:port,...; by default this node alone
 *   region=256           limit of the data region, MiB
 *   threads=32           pool that serves thin clients
 *   tasks=1000           compute tasks a connection may have running
 *   work=work            work folder
 *   persist=false        native persistence (activated by this launcher)
 *   auth=false           user/password check (needs persist=true)
 *   keystore= storepass= TLS on the client port, by a key store in PKCS12
 *
 * All ports are those given and of 127.0.0.1, and none is searched for.
 */
public final class Node {
    public static void main(String[] args) throws Exception {
        Map<String, String> opt = new HashMap<>();
        for (String a : args) {
            int eq = a.indexOf('=');
            if (eq < 1)
                throw new IllegalArgumentException("want name=value, got: " + a);
            opt.put(a.substring(0, eq), a.substring(eq + 1));
        }
        Ignite ignite = Ignition.start(config(opt));
        if (flag(opt, "persist"))
            ignite.cluster().state(ClusterState.ACTIVE);
        System.out.printf("READY servers=%d%n", ignite.cluster().forServers().nodes().size());
        System.out.flush();
        Thread.currentThread().join();
    }

    private static IgniteConfiguration config(Map<String, String> opt) {
        String host = "127.0.0.1";
        int port = num(opt, "port", 10800);
        int disco = num(opt, "discovery", 47500);

        // A fixed address list: the default finder would use multicast and could join strangers.
        TcpDiscoveryVmIpFinder finder = new TcpDiscoveryVmIpFinder();
        finder.setAddresses(List.of(opt.getOrDefault("peers", host + ":" + disco).split(",")));
        TcpDiscoverySpi discovery = new TcpDiscoverySpi();
        discovery.setIpFinder(finder);
        discovery.setLocalPort(disco);
        discovery.setLocalPortRange(0);

        TcpCommunicationSpi comm = new TcpCommunicationSpi();
        comm.setLocalPort(num(opt, "comm", 47100));
        comm.setLocalPortRange(0);

        // The log of changes is small, so that a node with persistence starts fast.
        DataStorageConfiguration storage = new DataStorageConfiguration()
            .setWalSegmentSize(4 << 20).setWalSegments(4).setMaxWalArchiveSize(64L << 20)
            .setDefaultDataRegionConfiguration(region(opt));

        ClientConnectorConfiguration client = new ClientConnectorConfiguration()
            .setHost(host).setPort(port).setPortRange(0).setThreadPoolSize(num(opt, "threads", 32))
            .setThinClientConfiguration(new ThinClientConfiguration()
                .setMaxActiveComputeTasksPerConnection(num(opt, "tasks", 1000)));
        if (opt.containsKey("keystore"))
            secure(client, opt);

        return new IgniteConfiguration()
            .setIgniteInstanceName("node-" + port)
            .setConsistentId("node-" + port)
            .setLocalHost(host)
            .setWorkDirectory(new File(opt.getOrDefault("work", "work")).getAbsolutePath())
            .setDiscoverySpi(discovery)
            .setCommunicationSpi(comm)
            .setDataStorageConfiguration(storage)
            .setClientConnectorConfiguration(client)
            .setConnectorConfiguration(null)
            .setAuthenticationEnabled(flag(opt, "auth"))
            .setMetricsLogFrequency(0);
    }

    private static DataRegionConfiguration region(Map<String, String> opt) {
        long bytes = num(opt, "region", 256) * 1024L * 1024L;
        return new DataRegionConfiguration().setName("default")
            .setInitialSize(bytes).setMaxSize(bytes).setPersistenceEnabled(flag(opt, "persist"));
    }

    private static void secure(ClientConnectorConfiguration client, Map<String, String> opt) {
        SslContextFactory ssl = new SslContextFactory();
        ssl.setKeyStoreFilePath(opt.get("keystore"));
        ssl.setKeyStoreType("PKCS12");
        ssl.setKeyStorePassword(opt.getOrDefault("storepass", "").toCharArray());
        ssl.setTrustManagers(SslContextFactory.getDisabledTrustManager());
        client.setSslEnabled(true).setUseIgniteSslContextFactory(false).setSslContextFactory(ssl);
    }

    private static int num(Map<String, String> opt, String name, int def) {
        return opt.containsKey(name) ? Integer.parseInt(opt.get(name)) : def;
    }

    private static boolean flag(Map<String, String> opt, String name) {
        return Boolean.parseBoolean(opt.getOrDefault(name, "false"));
    }

    private Node() { }
}
