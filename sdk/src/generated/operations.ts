/** Generated from the tables of the service by `npm run docs`. */

export const controlPrefix = '/api/sdk/v1';

/**
 * Operations of the control plane. `path` is below the prefix. `result` is the response
 * body's field with the value, or absent if there is no body. `isPaged` marks lists that
 * support pages. `hasLocation` marks responses with a Location, which is the URL of the
 * request's progress.
 */
export const operations = {
  listProjects: { method: 'GET', path: '/projects', result: 'projects', isPaged: true },
  createProject: { method: 'POST', path: '/projects', body: 'required', result: 'project' },
  getProject: { method: 'GET', path: '/projects/{projectId}', result: 'project' },
  updateProject: {
    method: 'PATCH',
    path: '/projects/{projectId}',
    body: 'required',
    result: 'project',
  },
  deleteProject: { method: 'DELETE', path: '/projects/{projectId}', query: ['force'] },
  getProjectConfiguration: {
    method: 'GET',
    path: '/projects/{projectId}/configuration',
    result: 'configuration',
  },
  updateProjectSettings: {
    method: 'PATCH',
    path: '/projects/{projectId}/settings',
    body: 'required',
    result: 'project',
  },
  prewarmProjectImages: {
    method: 'POST',
    path: '/projects/{projectId}/prewarm',
    body: 'required',
    result: 'prewarm',
    hasLocation: true,
  },
  getProjectPrewarm: {
    method: 'GET',
    path: '/projects/{projectId}/prewarms/{prewarmId}',
    result: 'prewarm',
  },
  purgeProjectImages: {
    method: 'POST',
    path: '/projects/{projectId}/purge',
    body: 'required',
    result: 'purge',
    hasLocation: true,
  },
  getProjectPurge: {
    method: 'GET',
    path: '/projects/{projectId}/purges/{purgeId}',
    result: 'purge',
  },
  getProjectFreshness: {
    method: 'GET',
    path: '/projects/{projectId}/freshness',
    result: 'freshness',
  },
  putProjectFreshness: {
    method: 'PUT',
    path: '/projects/{projectId}/freshness',
    body: 'required',
    result: 'freshness',
  },
  getProjectUsage: {
    method: 'GET',
    path: '/projects/{projectId}/usage',
    query: ['from', 'to', 'format'],
    result: 'usage',
  },
  getProjectTop: { method: 'GET', path: '/projects/{projectId}/top', result: 'top' },
  listProjectFailures: {
    method: 'GET',
    path: '/projects/{projectId}/failures',
    result: 'failures',
  },
  getProjectLimits: { method: 'GET', path: '/projects/{projectId}/limits', result: 'limits' },
  putProjectLimits: {
    method: 'PUT',
    path: '/projects/{projectId}/limits',
    body: 'required',
    result: 'limits',
  },
  addProjectDomain: {
    method: 'POST',
    path: '/projects/{projectId}/domains',
    body: 'required',
    result: 'project',
  },
  removeProjectDomain: {
    method: 'DELETE',
    path: '/projects/{projectId}/domains',
    body: 'optional',
    query: ['host'],
    result: 'project',
  },
  listProjectHosts: {
    method: 'GET',
    path: '/projects/{projectId}/hosts',
    result: 'hosts',
    isPaged: true,
  },
  getProjectHost: { method: 'GET', path: '/projects/{projectId}/hosts/{host}', result: 'host' },
  putProjectHost: {
    method: 'PUT',
    path: '/projects/{projectId}/hosts/{host}',
    body: 'required',
    result: 'host',
  },
  deleteProjectHost: {
    method: 'DELETE',
    path: '/projects/{projectId}/hosts/{host}',
    result: 'hosts',
  },
  listProjectOrigins: {
    method: 'GET',
    path: '/projects/{projectId}/origins',
    result: 'origins',
    isPaged: true,
  },
  putProjectOrigin: {
    method: 'PUT',
    path: '/projects/{projectId}/origins/{host}',
    body: 'required',
    result: 'origin',
  },
  deleteProjectOrigin: {
    method: 'DELETE',
    path: '/projects/{projectId}/origins/{host}',
    result: 'origins',
  },
  listProjectPresets: {
    method: 'GET',
    path: '/projects/{projectId}/presets',
    result: 'presets',
    isPaged: true,
  },
  getProjectPreset: {
    method: 'GET',
    path: '/projects/{projectId}/presets/{presetName}',
    result: 'preset',
  },
  putProjectPreset: {
    method: 'PUT',
    path: '/projects/{projectId}/presets/{presetName}',
    body: 'required',
    result: 'preset',
  },
  deleteProjectPreset: {
    method: 'DELETE',
    path: '/projects/{projectId}/presets/{presetName}',
    result: 'presets',
  },
  listProjectLayers: {
    method: 'GET',
    path: '/projects/{projectId}/layers',
    result: 'layers',
    isPaged: true,
  },
  getProjectLayer: {
    method: 'GET',
    path: '/projects/{projectId}/layers/{layerName}',
    result: 'layer',
  },
  putProjectLayer: {
    method: 'PUT',
    path: '/projects/{projectId}/layers/{layerName}',
    body: 'required',
    result: 'layer',
  },
  deleteProjectLayer: {
    method: 'DELETE',
    path: '/projects/{projectId}/layers/{layerName}',
    result: 'layers',
  },
  listProjectKeys: {
    method: 'GET',
    path: '/projects/{projectId}/keys',
    result: 'keys',
    isPaged: true,
  },
  createProjectKey: {
    method: 'POST',
    path: '/projects/{projectId}/keys',
    body: 'required',
    result: 'key',
  },
  revokeProjectKey: {
    method: 'DELETE',
    path: '/projects/{projectId}/keys/{keyId}',
    result: 'keys',
  },
  getProjectSigning: { method: 'GET', path: '/projects/{projectId}/signing', result: 'signing' },
  createSigningSecret: {
    method: 'POST',
    path: '/projects/{projectId}/signing/secrets',
    body: 'optional',
    result: 'signing',
  },
  revokePreviousSigningSecret: {
    method: 'DELETE',
    path: '/projects/{projectId}/signing/secrets/previous',
    result: 'signing',
  },
  stopRequiringSignatures: {
    method: 'DELETE',
    path: '/projects/{projectId}/signing',
    result: 'signing',
  },
  signProjectUrl: {
    method: 'POST',
    path: '/projects/{projectId}/signed-urls',
    body: 'required',
    result: 'signedUrl',
  },
  getProjectUrlMeaning: {
    method: 'GET',
    path: '/projects/{projectId}/url-meaning',
    query: ['url', 'urls', 'width', 'height'],
    result: 'urlMeaning',
  },
  listProjectUrlSecrets: {
    method: 'GET',
    path: '/projects/{projectId}/url-secrets',
    result: 'urlSecrets',
    isPaged: true,
  },
  getProjectUrlSecret: {
    method: 'GET',
    path: '/projects/{projectId}/url-secrets/{kind}',
    result: 'urlSecret',
  },
  putProjectUrlSecret: {
    method: 'PUT',
    path: '/projects/{projectId}/url-secrets/{kind}',
    body: 'required',
    result: 'urlSecret',
  },
  deleteProjectUrlSecret: {
    method: 'DELETE',
    path: '/projects/{projectId}/url-secrets/{kind}',
    result: 'urlSecrets',
  },
  listProjectCallbacks: {
    method: 'GET',
    path: '/projects/{projectId}/callbacks',
    result: 'callbacks',
  },
  getServiceVersion: { method: 'GET', path: '/version', result: 'version' },
} as const;
