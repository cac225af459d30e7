# Varnish as a cache in front of the service. Put a TLS proxy in front of Varnish. Set SERVICE_BASE_URL to the public
# URL and SERVICE_TRUSTED_PROXIES to Varnish's address.
vcl 4.1;

backend service {
    .host = "127.0.0.1";
    .port = "3000";
    # A fetch can take 10 s and the transform 20 s.
    .first_byte_timeout = 60s;
}

# Clients that can purge. Add your backend's address.
acl purgers {
    "localhost";
}

sub vcl_recv {
    if (req.method == "BAN") {
        # Behind a proxy on this machine, every client has the proxy's address. So the proxy must either use the PROXY
        # protocol or add the client's address to X-Forwarded-For: two addresses there mean that the proxy sent it.
        if (client.ip !~ purgers || req.http.x-forwarded-for ~ ",") {
            return (synth(403));
        }
        # No tag contains another tag, so the header can be matched without splitting it.
        if (req.http.tag !~ "^(p-[0-9a-f]{16}|s-[0-9a-f]{30})$") {
            return (synth(400, "No tag"));
        }
        ban("obj.http.surrogate-key ~ " + req.http.tag);
        return (synth(200, "Banned"));
    }
    # Otherwise the service would trust a client's own header.
    unset req.http.x-forwarded-host;
    # The console, the API and health checks are not cached.
    if (req.url !~ "^/img[/?]") {
        return (pass);
    }
    unset req.http.cookie;
    # Reduces Accept to the formats that matter, because browsers send many different values. A header with parameters
    # such as `q` stays as it is.
    if (req.http.accept !~ "image/(jxl|avif|webp)\s*;") {
        set req.http.x-accepted = "";
        # Uncomment with SERVICE_AUTO_FORMATS=jxl,avif,webp. Otherwise JPEG XL browsers would get a separate cache entry
        # for no benefit.
        # if (req.http.accept ~ "image/jxl") { set req.http.x-accepted = "image/jxl,"; }
        if (req.http.accept ~ "image/avif") {
            set req.http.x-accepted = req.http.x-accepted + "image/avif,";
        }
        if (req.http.accept ~ "image/webp") {
            set req.http.x-accepted = req.http.x-accepted + "image/webp,";
        }
        set req.http.accept = req.http.x-accepted + "*/*";
        unset req.http.x-accepted;
    }
}

sub vcl_backend_response {
    # Keep grace at 0: stale objects would include signed URLs that have expired.
    set beresp.grace = 0s;
}
