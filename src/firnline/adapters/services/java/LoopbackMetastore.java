import java.io.File;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.URI;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RawLocalFileSystem;
import org.apache.hadoop.hive.conf.HiveConf;
import org.apache.hadoop.hive.metastore.HiveMetaStore;
import org.apache.hadoop.hive.metastore.IHMSHandler;
import org.apache.hadoop.hive.metastore.TSetIpAddressProcessor;
import org.apache.hadoop.hive.metastore.txn.TxnDbUtil;
import org.apache.thrift.protocol.TBinaryProtocol;
import org.apache.thrift.server.TThreadPoolServer;
import org.apache.thrift.transport.TServerSocket;
import org.apache.thrift.transport.TTransportFactory;

/**
 * The Hive Metastore inside pyspark, as its own main runs it, with three differences: it listens on loopback only, where
 * the original listens on every interface; it makes the tables of its lock manager, which the original leaves to a schema
 * tool (without them Iceberg's first commit hangs); and it needs no client for S3.
 *
 * <p>Compiled as it starts, by the compiler inside pyspark: no JDK is needed. That compiler knows no lambdas.
 */
public class LoopbackMetastore {

  /** The one argument is the port; all else stands in hive-site.xml on the class path. */
  public static void main(String[] arguments) throws Throwable {
    // Hadoop finds Shadow by its name through this loader.
    Thread.currentThread().setContextClassLoader(LoopbackMetastore.class.getClassLoader());
    HiveConf conf = new HiveConf(HiveMetaStore.class);
    conf.setClassLoader(LoopbackMetastore.class.getClassLoader());
    // Made anew each time: what they hold are locks, and whoever held one when the server ended has lost it.
    TxnDbUtil.cleanDb(conf);
    TxnDbUtil.prepDb(conf);
    IHMSHandler handler = new HiveMetaStore.HMSHandler("firnline", conf, false);
    IHMSHandler retrying = HiveMetaStore.newRetryingHMSHandler(handler, conf, true);

    TServerSocket socket = new TServerSocket(new InetSocketAddress("127.0.0.1", Integer.parseInt(arguments[0])));
    TThreadPoolServer.Args settings = new TThreadPoolServer.Args(socket);
    settings.processor(new TSetIpAddressProcessor(retrying));
    settings.transportFactory(new TTransportFactory());
    settings.protocolFactory(new TBinaryProtocol.Factory());
    settings.minWorkerThreads(4);
    settings.maxWorkerThreads(200);
    new TThreadPoolServer(settings).serve();
  }

  /**
   * Stands for s3:// inside the metastore, which makes a folder for each database and table and asks whether it is there.
   * The folders are made on this disk, by bucket, and stay empty: files are written by who writes the table.
   */
  public static class Shadow extends RawLocalFileSystem {
    private URI uri;
    private File folder;

    public void initialize(URI name, Configuration conf) throws IOException {
      this.uri = URI.create(name.getScheme() + "://" + name.getAuthority());
      this.folder = new File(conf.get("firnline.shadow"), name.getAuthority());
      folder.mkdirs(); // the metastore climbs to the first parent that exists
      super.initialize(name, conf);
      setConf(conf);
    }

    public URI getUri() {
      return uri == null ? super.getUri() : uri; // null while the class above is being made
    }

    public String getScheme() {
      return getUri().getScheme();
    }

    public File pathToFile(Path path) {
      return new File(folder, path.toUri().getPath());
    }
  }
}
