import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { rootPath } from '../root.ts';
import { until } from '../until.ts';
import { freePort, json, startService } from './service.ts';

const missing = ['prometheus', 'promtool'].filter((name) => spawnSync(name, ['--version']).error);
const skip = missing.length > 0 && `${missing.join(', ')}: not installed`;

const read = (file: string) => readFile(join(rootPath, file), 'utf8');

/** Writes the configuration with the test's targets, and without production waits. */
async function files(service: number, worker: number): Promise<Record<string, string>> {
  const example = await read('docs/operating/prometheus.yml');
  const page = await read('docs/operating/monitoring.md');
  const [, block = ''] = /^```yaml\n(scrape_configs:\n.*?)^```/ms.exec(page) ?? [];
  const targets = (text: string) =>
    text
      .replace(/"[\w.]+:9090"/, `"127.0.0.1:${service}"`)
      .replace(/"[\w.]+:3001"/, `"127.0.0.1:${worker}"`);
  const fast = example.replaceAll('15s', '500ms');
  return {
    'prometheus.yml': targets(fast),
    'of-the-page.yml': targets(fast.replace(/^scrape_configs:\n.*/ms, block)),
    'alerts.yml': (await read('docs/operating/alerts.yml')).replaceAll('for: 1m\n', 'for: 1s\n'),
  };
}

t.test('exports metrics to Prometheus, and fires an alert after it stops', { skip }, async (t) => {
  const [ops, worker, own] = [await freePort(), await freePort(), await freePort()];
  const service = await startService(t, { environment: { SERVICE_OPS_PORT: String(ops) } });
  const folder = t.testdir(await files(ops, worker));
  for (const file of ['prometheus.yml', 'of-the-page.yml']) {
    const { status, stderr } = spawnSync('promtool', ['check', 'config', join(folder, file)]);
    t.equal(status, 0, `${file} ${stderr}`);
  }
  const prometheus = spawn('prometheus', [
    `--config.file=${join(folder, 'prometheus.yml')}`,
    `--storage.tsdb.path=${join(folder, 'data')}`,
    `--web.listen-address=127.0.0.1:${own}`,
    '--log.level=error',
  ]);
  t.teardown(async () => {
    const ended = once(prometheus, 'exit');
    prometheus.kill('SIGTERM');
    await ended;
  });
  const api = async (path: string) => {
    const response = await fetch(`http://127.0.0.1:${own}/api/v1/${path}`).catch(() => null);
    return response?.ok ? json(response) : null;
  };
  const firing = async (): Promise<string[]> => {
    const alerts: { state: string; labels: { alertname: string } }[] =
      (await api('alerts'))?.data.alerts ?? [];
    return alerts.filter(({ state }) => state === 'firing').map(({ labels }) => labels.alertname);
  };
  const frontEnds = async () =>
    (await api('query?query=image_delivery_front_ends'))?.data.result[0]?.value[1];
  await until('the service is scraped', async () => (await frontEnds()) === '1');
  t.notOk((await firing()).includes('ImageDeliveryDown'), 'no alert while it runs');
  await service.end('SIGTERM');
  await until('the alert fires', async () => (await firing()).includes('ImageDeliveryDown'));
  t.equal(await frontEnds(), undefined, 'its series is stale by then');
});
