import jakarta.servlet.DispatcherType;
import jakarta.servlet.Filter;
import jakarta.servlet.FilterChain;
import jakarta.servlet.FilterConfig;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletResponse;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.Map;
import java.util.Properties;
import org.apache.hadoop.conf.Configuration;
import org.apache.iceberg.CatalogUtil;
import org.apache.iceberg.catalog.Catalog;
import org.apache.iceberg.rest.RESTCatalogAdapter;
import org.apache.iceberg.rest.RESTCatalogServlet;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.handler.gzip.GzipHandler;
import org.eclipse.jetty.servlet.FilterHolder;
import org.eclipse.jetty.servlet.ServletContextHandler;
import org.eclipse.jetty.servlet.ServletHolder;

/**
 * Iceberg's reference REST catalog as RESTCatalogServer runs it, with two differences: it listens on loopback only, where
 * the original listens on every interface, and it answers nobody without the token.
 *
 * <p>Compiled as it starts, by the compiler inside pyspark: no JDK is needed. That compiler knows no lambdas.
 */
public class LoopbackCatalog {

  /** The one argument is a properties file: `port`, `token`, and under `catalog.` the properties of the catalog behind. */
  public static void main(String[] arguments) throws Exception {
    Properties given = new Properties();
    InputStream file = new FileInputStream(arguments[0]);
    try {
      given.load(file);
    } finally {
      file.close();
    }
    Map<String, String> properties = new HashMap<String, String>();
    for (Object each : given.keySet()) {
      String key = (String) each;
      if (key.startsWith("catalog.")) {
        properties.put(key.substring("catalog.".length()), given.getProperty(key));
      }
    }
    Catalog catalog = (Catalog) CatalogUtil.buildIcebergCatalog("rest_backend", properties, new Configuration());

    ServletContextHandler context = new ServletContextHandler(ServletContextHandler.NO_SESSIONS);
    context.addServlet(new ServletHolder(new RESTCatalogServlet(new RESTCatalogAdapter(catalog))), "/*");
    context.addFilter(
        new FilterHolder(new Guard(given.getProperty("token"))), "/*", EnumSet.of(DispatcherType.REQUEST));
    context.insertHandler(new GzipHandler());

    Server server = new Server(new InetSocketAddress("127.0.0.1", Integer.parseInt(given.getProperty("port"))));
    server.setHandler(context);
    server.setStopAtShutdown(true);
    server.start();
    server.join();
  }

  /** Lets through who says the token. */
  public static class Guard implements Filter {
    private final byte[] wanted;

    public Guard(String token) {
      this.wanted = ("Bearer " + token).getBytes(StandardCharsets.UTF_8);
    }

    public void init(FilterConfig config) {}

    public void destroy() {}

    public void doFilter(ServletRequest request, ServletResponse response, FilterChain chain)
        throws IOException, ServletException {
      String said = ((HttpServletRequest) request).getHeader("Authorization");
      if (said != null && MessageDigest.isEqual(wanted, said.getBytes(StandardCharsets.UTF_8))) {
        chain.doFilter(request, response);
        return;
      }
      HttpServletResponse refusal = (HttpServletResponse) response;
      refusal.setStatus(401);
      refusal.setContentType("application/json");
      refusal
          .getWriter()
          .write("{\"error\":{\"message\":\"The token is missing or wrong.\",\"type\":\"NotAuthorizedException\",\"code\":401}}");
    }
  }
}
