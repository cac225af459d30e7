import t from 'tap';
import { findEndpoint } from '../../../server/control/endpoints.ts';

const at = (path: string) => `/api/sdk/v1${path}`;

t.test('a method and a path name an operation, with its project', async (t) => {
  const cases = [
    ['GET', '/projects', 'listProjects', null],
    ['POST', '/projects', 'createProject', null],
    ['GET', '/projects/prj_1', 'getProject', 'prj_1'],
    ['GET', '/projects/prj_1/configuration', 'getProjectConfiguration', 'prj_1'],
    ['PATCH', '/projects/prj_1/settings', 'updateProjectSettings', 'prj_1'],
    ['POST', '/projects/prj_1/prewarm', 'prewarmProjectImages', 'prj_1'],
    ['POST', '/projects/prj_1/domains', 'addProjectDomain', 'prj_1'],
    ['DELETE', '/projects/prj_1/domains', 'removeProjectDomain', 'prj_1'],
    ['GET', '/projects/prj_1/presets', 'listProjectPresets', 'prj_1'],
    ['PUT', '/projects/prj_1/presets/a%2Fb', 'putProjectPreset', 'prj_1', 'a/b'],
    ['GET', '/projects/a%2Fb', 'getProject', 'a/b'],
    ['GET', '/projects/%70rj_1', 'getProject', 'prj_1'],
    ['GET', '/projects/%zz', 'getProject', '%zz'],
    ['GET', '/projects/%ff', 'getProject', '%ff'],
    ['GET', '/projects/configuration', 'getProject', 'configuration'],
  ] as const;
  for (const [method, path, id, projectId, presetName = null] of cases) {
    const match = findEndpoint(method, at(path));
    t.match(match, { id, projectId, presetName }, `${method} ${path}`);
    t.equal(match?.endpoint.method, method);
  }
});

t.test('nothing else does', async (t) => {
  for (const [method, path] of [
    ['HEAD', at('/projects')],
    ['OPTIONS', at('/projects')],
    ['PUT', at('/projects/prj_1')],
    ['DELETE', at('/projects/prj_1')],
    ['GET', at('/projects/prj_1/settings')],
    ['GET', at('/projects/')],
    ['GET', at('/projects/prj_1/presets/')],
    ['GET', at('/projects/prj_1/presets/a/b')],
    ['POST', at('/projects/prj_1/presets')],
    ['GET', at('/projects//')],
    ['GET', at('/projects//configuration')],
    ['GET', at('/projects/prj_1/')],
    ['GET', at('/projects/prj_1/configuration/')],
    ['GET', at('/projects/prj_1/configuration/x')],
    ['GET', at('/Projects')],
    ['GET', at('')],
    ['GET', `/x${at('/projects')}`],
    ['GET', at('/projects\n')],
    ['GET', '/api/sdk/v2/projects'],
    ['GET', '/api/sdk/v1.projects'],
  ] as const) {
    t.equal(findEndpoint(method, path), null, `${method} ${path}`);
  }
});
