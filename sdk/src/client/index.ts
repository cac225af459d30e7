export type * from '../generated/schemas.ts';
export {
  type Client,
  createClient,
  type ListId,
  type ListItem,
  type OperationInput,
  type OperationResult,
  type PrewarmReference,
  type QueuedPrewarm,
  type QueuedPurge,
  type WarmingPicture,
} from './client.ts';
export type { ClientOptions, RetryOptions } from './connection.ts';
export { ApiError, ConnectionError, type ErrorCode, TimeoutError } from './errors.ts';
export type { CallOptions } from './send.ts';
export { NotPrewarmableError, type PictureUrls } from './to-prewarms.ts';
