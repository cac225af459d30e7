import { version } from '../../../contract/version.ts';
import { one, operation } from '../operation.ts';
import { closed, named } from '../schema.ts';

const text = { type: 'string' } as const;

const serviceVersion = named(
  'ServiceVersion',
  {
    description: 'What a report of a fault names.',
    ...closed({
      service: { ...text, description: 'The version of the service, not of this interface.' },
      node: { ...text, description: 'The version of Node.js.' },
      platform: { ...text, description: 'The system and the architecture.' },
    }),
  },
  { service: '0.1.0', node: 'v22.22.0', platform: 'linux-x64' },
);

export const versionOperations = {
  getServiceVersion: operation({
    method: 'GET',
    path: '/version',
    summary: 'Read the version of the service',
    description: 'For holders of a key only: no other response tells it.',
    result: one('version', serviceVersion),
    handle: async () => ({
      service: version,
      node: process.version,
      platform: `${process.platform}-${process.arch}`,
    }),
  }),
};
