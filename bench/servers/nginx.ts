import { join } from 'node:path';
import { installed, startServer } from './launch.ts';
import type { Server } from './server.ts';

export const hasNginx = installed('nginx');

/**
 * Starts nginx on a free port.
 * @param http returns the `http` block's contents for nginx's folder and port
 */
export const startNginx = (
  name: string,
  http: (folder: string, port: number) => string,
  cpus: string | null = null,
): Promise<Server> =>
  startServer(
    name,
    (_, folder) => ['nginx', '-c', join(folder, 'nginx.conf'), '-p', folder, '-e', 'stderr'],
    {
      cpus,
      files: (folder, port) => {
        const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
          (kind) => `${kind}_temp_path ${folder}/${kind};`,
        );
        // As root, nginx would run its workers as another user, who cannot read the temporary
        // folder.
        const user = process.getuid?.() === 0 ? 'user root;' : '';
        const main = `daemon off; ${user} worker_processes 1; pid ${folder}/pid; error_log stderr warn;
events { worker_connections 4096; multi_accept on; }
http { access_log off; ${temporary.join(' ')}
${http(folder, port)}
}
`;
        return { 'nginx.conf': main };
      },
    },
  );

/** nginx with `proxy_cache` in front of another server, configured for immutable images. */
export const startNginxCache = (upstream: string, cpus: string | null): Promise<Server> =>
  startNginx(
    'nginx proxy_cache',
    (folder, port) => `  sendfile on; tcp_nopush on; tcp_nodelay on; server_tokens off;
  keepalive_timeout 75s; keepalive_requests 1000000000;
  proxy_cache_path ${folder}/cache levels=1:2 keys_zone=main:64m max_size=10g inactive=1d use_temp_path=off;
  upstream service { server ${new URL(upstream).host} max_fails=0; keepalive 256; keepalive_requests 1000000000; }
  server {
    listen 127.0.0.1:${port} backlog=4096;
    location / {
      proxy_pass http://service; proxy_http_version 1.1; proxy_set_header Connection "";
      proxy_cache main; proxy_cache_key $request_uri; proxy_cache_valid 200 1d; proxy_cache_lock on;
      proxy_ignore_headers Vary; add_header X-Cache $upstream_cache_status;
    }
  }`,
    cpus,
  );
