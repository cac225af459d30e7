import type { Test } from 'tap';
import { together } from '../../store/servers.ts';
import { type Control, findProcess } from './control.ts';

/** Checks that the service stores all concurrent changes. */
export async function concurrency(t: Test, control: Control): Promise<void> {
  const { call } = control;
  const projectPath = `/projects/${await control.project()}`;
  const { project } = (await call('GET', projectPath)).body;
  const settings = {
    autoFormat: false,
    defaultQuality: 31,
    defaultDpr: 2,
    defaultFit: 'inside',
    maxWidth: 77,
    stripMetadata: false,
    watermarkEnabled: true,
    watermarkMargin: 3,
    watermarkPosition: 'west',
    watermarkOpacity: 5,
    watermarkScale: 6,
  };
  const hosts = Array.from({ length: 50 }, (_, i) => `h${i}.example`);
  /** Repeats a call that waited too long for its turn, as clients do. */
  const change: Control['call'] = async (...args) => {
    const response = await call(...args);
    return response.status === 429 ? change(...args) : response;
  };
  const add = (host: string) => () => change('POST', `${projectPath}/domains`, { json: { host } });
  const patch = (json: object) => () => change('PATCH', `${projectPath}/settings`, { json });
  const responses = await together([
    ...hosts.map(add),
    ...Object.entries(settings).map(([name, value]) => patch({ [name]: value })),
    ...control.watermarks.map((watermarkUrl) => patch({ watermarkUrl })),
  ]);
  t.same(new Set(responses.map(({ status }) => status)), new Set([200]));
  t.equal(new Set(responses.map(findProcess)).size, 2, 'both processes responded');

  const after = (await call('GET', projectPath)).body.project;
  const { allowedOrigins, watermarkUrl, ...rest } = after;
  t.same(allowedOrigins.slice().sort(), [...project.allowedOrigins, ...hosts].sort());
  t.ok(control.watermarks.includes(watermarkUrl));
  t.match(rest, settings);

  const removed = await together([
    ...hosts
      .filter((_, i) => i % 2 === 0)
      .map((host) => () => change('DELETE', `${projectPath}/domains?host=${host}`)),
    ...Array.from({ length: 25 }, () => add('same.example')),
  ]);
  t.same(new Set(removed.map(({ status }) => status)), new Set([200]));
  t.same(
    (await call('GET', projectPath)).body.project.allowedOrigins.slice().sort(),
    [...project.allowedOrigins, ...hosts.filter((_, i) => i % 2 === 1), 'same.example'].sort(),
  );

  const { projects } = (await call('GET', '/projects')).body;
  const created = await together(Array.from({ length: 20 }, () => () => control.project()));
  t.equal(new Set(created).size, 20);
  t.equal((await call('GET', '/projects')).body.projects.length, projects.length + 20);
}
