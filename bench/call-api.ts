/**
 * Calls an operation of the control plane.
 * @param path below `/api/sdk/v1`
 * @throws unless the response is a success
 */
export async function callApi<Body>(
  serviceUrl: string,
  key: string,
  method: 'POST' | 'PUT',
  path: string,
  body: object,
): Promise<Body> {
  const response = await fetch(`${serviceUrl}/api/sdk/v1${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (!response.ok)
    throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
  return (await response.json()) as Body;
}

/** Creates a project that allows sources on 127.0.0.1. @returns its id */
export async function postProject(serviceUrl: string, key: string, name: string): Promise<string> {
  const fields = { name, origin: 'http://127.0.0.1/' };
  const { project } = await callApi<{ project: { id: string } }>(
    serviceUrl,
    key,
    'POST',
    '/projects',
    fields,
  );
  return project.id;
}
