# Varnish as a cache in front of the service. Add TLS in front of Varnish. Set SERVICE_BASE_URL to its address
# and SERVICE_TRUSTED_PROXIES to the address from which it connects.
vcl 4.1;

backend service {
    .host = "127.0.0.1";
    .port = "3000";
    # A source may take 10 s and its transform 20 s.
    .first_byte_timeout = 60s;
}

# Who may purge.
acl purgers {
    "localhost";
}

sub vcl_recv {
    if (req.method == "BAN") {
        # The clients of a proxy on this machine have its address. It must add theirs to X-Forwarded-For, to
        # which Varnish has added this one, or use the PROXY protocol.
        if (client.ip !~ purgers || req.http.x-forwarded-for ~ ",") {
            return (synth(403));
        }
        # No tag is a part of another one, so the header need not be split.
        if (req.http.tag !~ "^(p-[0-9a-f]{16}|s-[0-9a-f]{30})$") {
            return (synth(400, "No tag"));
        }
        ban("obj.http.surrogate-key ~ " + req.http.tag);
        return (synth(200, "Banned"));
    }
    # The service would trust the header of a client.
    unset req.http.x-forwarded-host;
    # The page, its API and the health check are not cached.
    if (req.url !~ "^/img[/?]") {
        return (pass);
    }
    unset req.http.cookie;
    # Browsers send many different values of Accept, so each is replaced by that of its class. A header with
    # parameters of one of the formats, such as `q`, is not changed.
    if (req.http.accept !~ "image/(jxl|avif|webp)\s*;") {
        set req.http.x-accepted = "";
        # With SERVICE_AUTO_FORMATS=jxl,avif,webp. Otherwise JPEG XL browsers would get a
        # separate cache entry for no benefit.
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
    # No stale images are served, because signed URLs expire.
    set beresp.grace = 0s;
}
