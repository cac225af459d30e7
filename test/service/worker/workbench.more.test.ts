import t from 'tap';
import { patienceMs } from '../../until.ts';
import { noChromium, startChromium } from '../chromium.ts';
import { baseUrl, startControl } from '../control/control.ts';
import { picture, startTestOrigin } from '../origin.ts';
import { startWorker } from './worker.ts';

const login = { username: 'operator', password: 'a pass:word' };

t.test('shows the workbench in a browser', { skip: noChromium }, async (t) => {
  const origin = await startTestOrigin(t);
  origin.serve('/a.jpg', await picture(300, 200));
  const control = await startControl(t, { SERVICE_POOL_THREADS: '1' });
  const project = await control.project(['localhost']);
  const source = `${origin.url}/a.jpg`;
  const sources = [source, source.replace('127.0.0.1', 'localhost')];
  const json = { sources, widths: [40, 80], formats: ['webp'] };
  await control.call('POST', `/projects/${project}/prewarm`, { json });
  // A queued source fails with no retry if its host leaves the allowlist.
  const domains = `/projects/${project}/domains`;
  await control.call('DELETE', `${domains}?host=localhost`);
  const worker = await startWorker(t, control.service, {
    SERVICE_WORKBENCH_USERNAME: login.username,
    SERVICE_WORKBENCH_PASSWORD: login.password,
  });
  const browser = await startChromium(t);
  await worker.untilLogged('source prewarmed');
  await worker.untilLogged('prewarming source failed');

  const stranger = await browser.newPage();
  await t.rejects(stranger.goto(`${worker.url}/workbench`), /ERR_INVALID_AUTH_CREDENTIALS/);
  await stranger.close();

  const page = await browser.newPage({
    httpCredentials: login,
    viewport: { width: 1400, height: 900 },
  });
  page.setDefaultTimeout(patienceMs);
  const problems: string[] = [];
  page.on('console', (message) => problems.push(`${message.type()}: ${message.text()}`));
  page.on('response', (response) => {
    if (response.status() >= 400) problems.push(`${response.status()} ${response.url()}`);
  });
  await page.goto(`${worker.url}/workbench`);
  const row = (state: string) => page.locator('tbody tr').filter({ hasText: state });
  await row('Completed').waitFor();
  t.match(await row('Failed').innerText(), /2 of 2 variants .* 403 source_not_allowed/);

  t.match(await page.title(), new RegExp(`^Workbench · ${baseUrl}`));
  await page.getByText(`The queue of ${baseUrl}`).waitFor();
  await page.getByText('Live', { exact: true }).waitFor();

  await row('Completed').getByTitle('Job Data').click();
  t.equal(await page.getByRole('progressbar').innerText(), '100%');
  t.match(await page.locator('pre').innerText(), /"done": 2,\s+"failed": 0,\s+"total": 2/);
  await page.getByRole('button', { name: 'Close', exact: true }).last().click();

  await control.call('POST', domains, { json: { host: 'localhost' } });
  const streamed = page.evaluate(`new Promise((resolve) => {
    const types = [];
    new EventSource('api/events').onmessage = ({ data }) => {
      const { type, jobName } = JSON.parse(data);
      types.push(type + ' ' + jobName);
      if (type === 'complete') resolve(types);
    };
  })`);
  await row('Failed').getByTitle('Requeue').click();
  await page.getByRole('button', { name: 'Requeue', exact: true }).click();
  await worker.untilLogged('source prewarmed', 2);
  t.match(String(await streamed), /^start prewarm,.*complete prewarm$/);
  t.equal(worker.logged('source prewarmed')[1]?.['source'], sources[1]);
  await row('Completed').nth(1).waitFor();
  t.equal(await row('Failed').count(), 1, 'the failed job is still listed');
  t.same(problems, []);
  const shot = process.env['WORKBENCH_PICTURE'];
  if (shot !== undefined) await page.screenshot({ path: shot });
});
