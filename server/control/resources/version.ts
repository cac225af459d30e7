import { version } from '../../../contract/own-files.ts';
import { itemResult, operation } from '../operation.ts';
import { closed, named } from '../schema.ts';

const text = { type: 'string' } as const;

const serviceVersion = named(
  'ServiceVersion',
  {
    description: 'Version details to include in a bug report.',
    ...closed({
      service: { ...text, description: 'Version of the service, not of this interface.' },
      node: { ...text, description: 'Node.js version.' },
      platform: { ...text, description: 'Operating system and architecture.' },
    }),
  },
  { service: '0.1.0', node: 'v22.22.0', platform: 'linux-x64' },
);

export const versionOperations = {
  getServiceVersion: operation({
    method: 'GET',
    path: '/version',
    summary: 'Read the service version',
    description: 'Requires a key, because no other response reveals the version.',
    result: itemResult('version', serviceVersion),
    handle: async () => ({
      service: version,
      node: process.version,
      platform: `${process.platform}-${process.arch}`,
    }),
  }),
};
