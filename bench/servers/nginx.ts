import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { end, freePort, installed, launch, untilOk } from './launch.ts';
import { pidOf, type Server } from './server.ts';

export const hasNginx = installed('nginx');

/** nginx with `proxy_cache` before another server, as one would set it up for immutable images. */
export async function startNginxCache(
  upstream: string,
  { workers = 1, cpus = null }: { workers?: number; cpus?: string | null } = {},
): Promise<Server> {
  const folder = await mkdtemp(join(tmpdir(), 'image-delivery-nginx-'));
  const port = await freePort();
  const configuration = join(folder, 'nginx.conf');
  await writeFile(configuration, configured(folder, port, new URL(upstream).host, workers));
  const startedAt = performance.now();
  const child = launch(['nginx', '-c', configuration, '-p', folder, '-e', 'stderr'], { cpus });
  const url = `http://127.0.0.1:${port}`;
  const close = async () => {
    await end(child);
    await rm(folder, { recursive: true, force: true });
  };
  try {
    await untilOk(url, child, { anyStatus: true });
  } catch (error) {
    await close();
    throw error;
  }
  const healthyMs = performance.now() - startedAt;
  return { name: 'nginx proxy_cache', url, pid: pidOf(child), healthyMs, close };
}

/** Run by root, its workers would be another user, who may not read the temporary folder. */
const user = process.getuid?.() === 0 ? 'user root;' : '';

function configured(folder: string, port: number, upstream: string, workers: number): string {
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (kind) => `${kind}_temp_path ${folder}/${kind};`,
  );
  return `daemon off; ${user} worker_processes ${workers}; pid ${folder}/pid; error_log stderr warn;
events { worker_connections 4096; multi_accept on; }
http {
  access_log off; sendfile on; tcp_nopush on; tcp_nodelay on; server_tokens off;
  keepalive_timeout 75s; keepalive_requests 1000000000;
  ${temporary.join(' ')}
  proxy_cache_path ${folder}/cache levels=1:2 keys_zone=main:64m max_size=10g inactive=1d use_temp_path=off;
  upstream service { server ${upstream} max_fails=0; keepalive 256; keepalive_requests 1000000000; }
  server {
    listen 127.0.0.1:${port} backlog=4096;
    location / {
      proxy_pass http://service; proxy_http_version 1.1; proxy_set_header Connection "";
      proxy_cache main; proxy_cache_key $request_uri; proxy_cache_valid 200 1d; proxy_cache_lock on;
      proxy_ignore_headers Vary; add_header X-Cache $upstream_cache_status;
    }
  }
}
`;
}
