import { execFileSync, spawnSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { hasHaproxy } from '../../bench/fleet/fleet.ts';
import { installed } from '../../bench/servers/launch.ts';
import { rootPath } from '../root.ts';
import { temporaryFolder } from '../temporary-root.ts';

const skip = !installed('helm') && 'helm is not installed';
const chart = join(rootPath, 'docs/deploy/helm/image-delivery');
const kubernetes = ['--kube-version', '1.30.0'];

const mongodb = 'store=mongodb,secrets.SERVICE_MONGODB_URL=mongodb://db/';
const everything = [
  'autoscaling.enabled=true,autoscaling.metric=queue,networkPolicy.enabled=true,ingress.enabled=true',
  'podMonitor.enabled=true,drainDelaySeconds=25',
].join(',');

/** Returns the manifests for values, by kind and name, or the error if the chart rejects them. */
function render(values: string, option = '--set') {
  const args = ['template', 'shop', chart, ...kubernetes, option, values];
  const { status, stdout, stderr } = spawnSync('helm', args, { encoding: 'utf8' });
  const manifests = new Map<string, string>();
  for (const text of stdout.split(/^---$/m)) {
    const [, kind] = /^kind: (\w+)$/m.exec(text) ?? [];
    const [, name] = /^ {2}name: (\S+)$/m.exec(text) ?? [];
    if (kind !== undefined) manifests.set(`${kind} ${name}`, text);
  }
  return { error: status === 0 ? null : stderr, manifests };
}

t.test('renders the chart with the values of docs/kubernetes.md', { skip }, async (t) => {
  const page = await readFile(join(rootPath, 'docs/kubernetes.md'), 'utf8');
  const [, example = ''] = /^ {3}```yaml\n(.*?)^ {3}```/ms.exec(page) ?? [];
  const file = join(await temporaryFolder(t), 'images.yaml');
  await writeFile(file, example.replaceAll(/^ {3}/gm, ''));
  const { error, manifests } = render(file, '--values');
  t.equal(error, null);
  t.match(manifests.get('StatefulSet shop-image-delivery'), 'registry.example.com/image-delivery:');
  t.ok(manifests.has('Ingress shop-image-delivery'));
});

/** Checks the configuration of the balancer with HAProxy itself. */
async function checkBalancer(t: Test, manifest: string): Promise<void> {
  const folder = await temporaryFolder(t);
  const [, config = ''] = /haproxy\.cfg: \|\n((?: {4}.*\n|\n)+)/.exec(manifest) ?? [];
  const file = join(folder, 'haproxy.cfg');
  await writeFile(file, `${config.replace(/^ {4}/gm, '').trimEnd()}\n`);
  execFileSync('haproxy', ['-c', '-q', '-f', file]);
}

t.test('renders the chart with one pod and with several', { skip }, async (t) => {
  execFileSync('helm', ['lint', chart, ...kubernetes, '--quiet'], { stdio: 'pipe' });
  const rendered = render('');
  t.equal(rendered.error, null);
  t.match(rendered.manifests.get('StatefulSet shop-image-delivery'), 'dist/server/start.js');
  t.same(
    [...rendered.manifests.keys()].filter((key) => /worker|balancer/.test(key)),
    [],
    'one pod needs no balancer, and runs the worker',
  );

  const several = render(`${mongodb},replicas=3,${everything}`);
  t.equal(several.error, null);
  const frontEnds = several.manifests.get('StatefulSet shop-image-delivery') ?? '';
  t.match(frontEnds, 'dist/server/main.js');
  t.match(frontEnds, 'terminationGracePeriodSeconds: 65', 'the delay and 40 s');
  t.match(frontEnds, /readinessProbe:\n +httpGet: \{ path: \/api\/ready,/);
  t.notMatch(frontEnds, 'replicas:', 'the autoscaler sets the number');
  t.match(several.manifests.get('ConfigMap shop-image-delivery'), 'DRAIN_DELAY_MS: "25000"');
  t.match(several.manifests.get('NetworkPolicy shop-image-delivery'), "'64:ff9b::/96'");
  const scaler = several.manifests.get('HorizontalPodAutoscaler shop-image-delivery');
  t.match(scaler, 'name: image_delivery_transforms_queued');
  const balancer = several.manifests.get('ConfigMap shop-image-delivery-balancer') ?? '';
  t.equal(balancer.match(/^ +server s5 shop-image-delivery-5\.shop-.*$/gm)?.length, 3);
  t.match(balancer, 'be_conn(images) ge 120');
  t.notMatch(balancer, '10.0.0.1');
  if (hasHaproxy) await checkBalancer(t, balancer);
  const text = [...several.manifests].filter(([key]) => !key.startsWith('Secret')).join();
  t.notMatch(text, 'mongodb://', 'the URL is in the Secret only');
});

t.test('gives the service an identity for S3', { skip }, (t) => {
  const identity = 'serviceAccountName=images,settings.AWS_EC2_METADATA_DISABLED=true';
  const { error, manifests } = render(`${mongodb},${identity},secrets.AWS_SECRET_ACCESS_KEY=b`);
  t.equal(error, null);
  const withAccount = [...manifests]
    .filter(([, text]) => text.includes('serviceAccountName: images'))
    .map(([key]) => key);
  t.same(withAccount, ['StatefulSet shop-image-delivery'], 'the worker does not use S3');
  t.match(manifests.get('ConfigMap shop-image-delivery'), 'AWS_EC2_METADATA_DISABLED: "true"');
  t.match(manifests.get('Secret shop-image-delivery'), 'AWS_SECRET_ACCESS_KEY: b');
  t.end();
});

t.test('writes numbers unchanged into commands and files', { skip }, (t) => {
  for (const option of ['--set', '--set-json', '--set-string']) {
    const values = 'image.tag=20261123,settings.SERVICE_DISK_CACHE_BYTES=10737418240';
    const { error, manifests } = render(values, option);
    t.equal(error, null, option);
    t.match(manifests.get('StatefulSet shop-image-delivery'), /: image-delivery:20261123$/m);
    t.match(manifests.get('ConfigMap shop-image-delivery'), '_DISK_CACHE_BYTES: "10737418240"');
  }
  t.end();
});

t.test('rejects invalid combinations of values', { skip }, async (t) => {
  const refused: ReadonlyArray<readonly [string, RegExp]> = [
    ['replicas=2', /The embedded store supports one pod only/],
    ['autoscaling.enabled=true', /The embedded store supports one pod only/],
    ['store=mongodb', /needs SERVICE_MONGODB_URL/],
    ['settings.SERVICE_DRAIN_DELAY_MS=1s', /drainDelaySeconds/],
    ['settings.PORT=a', /does not match/i],
    ['replica=2', /replica/],
    ['replicas=0', /replicas/],
    ['autoscaling.minReplicas=0', /minReplicas/],
    ['autoscaling.maxReplicas=0', /maxReplicas/],
    ['balancer.replicas=0', /balancer/],
    [`${mongodb},autoscaling.enabled=true,autoscaling.minReplicas=7`, /minReplicas is greater/],
    ['service.port=0', /port/],
  ];
  for (const [values, error] of refused) t.match(render(values).error, error, values);
  const own = render('store=mongodb,replicas=2,existingSecret=own');
  t.equal(own.error, null);
  for (const pods of ['StatefulSet shop-image-delivery', 'Deployment shop-image-delivery-worker']) {
    const manifest = own.manifests.get(pods);
    t.match(manifest, 'secretRef: { name: own, optional: false }');
    t.match(
      manifest,
      'secretKeyRef: { name: own, key: SERVICE_MONGODB_URL }',
      'no store of its own',
    );
  }
  t.match(
    render('').manifests.get('StatefulSet shop-image-delivery'),
    'secretRef: { name: shop-image-delivery, optional: true }',
  );
});
