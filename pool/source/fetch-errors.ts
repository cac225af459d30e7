import { ServiceError } from '../../contract/errors.ts';

/** Texts for the error codes of Node, undici and OpenSSL. Each completes a sentence. */
type Texts = Readonly<Record<string, (host: string) => string>>;

const lookup: Texts = {
  ENOTFOUND: (host) => `the host name ${host} does not exist`,
  ENODATA: (host) => `the host name ${host} has no address`,
  EAI_AGAIN: (host) => `no name server responded for the host name ${host}`,
};

const connect: Texts = {
  ECONNREFUSED: (host) => `${host} refuses connections on this port`,
  ECONNRESET: (host) => `${host} closed the connection`,
  ETIMEDOUT: (host) => `${host} does not respond on this port`,
  EHOSTUNREACH: (host) => `${host} is unreachable`,
  ENETUNREACH: (host) => `${host} is unreachable`,
};

const handshakeFailed = (host: string) =>
  `${host} and this service support no common TLS version and cipher, or ${host} asks for a client certificate`;
const oldProtocol = (host: string) => `${host} supports no TLS version above 1.1`;
const noTls = (host: string) => `${host} does not speak TLS on this port`;
const incompleteChain = (host: string) =>
  `${host}'s certificate is issued by an unknown authority, or the server does not send the intermediate certificates`;

const tls: Texts = {
  DEPTH_ZERO_SELF_SIGNED_CERT: (host) => `${host}'s certificate is self-signed`,
  SELF_SIGNED_CERT_IN_CHAIN: (host) =>
    `${host}'s certificate is issued by an authority that this service does not trust`,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: incompleteChain,
  UNABLE_TO_GET_ISSUER_CERT: incompleteChain,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: incompleteChain,
  CERT_HAS_EXPIRED: (host) => `${host}'s certificate has expired`,
  CERT_NOT_YET_VALID: (host) => `${host}'s certificate is not yet valid`,
  CERT_REVOKED: (host) => `${host}'s certificate has been revoked`,
  ERR_TLS_CERT_ALTNAME_INVALID: (host) => `${host}'s certificate is for other names`,
  HOSTNAME_MISMATCH: (host) => `${host}'s certificate is for other names`,
  ERR_SSL_WRONG_VERSION_NUMBER: noTls,
  ERR_SSL_PACKET_LENGTH_TOO_LONG: noTls,
  ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION: oldProtocol,
  ERR_SSL_UNSUPPORTED_PROTOCOL: oldProtocol,
  // The first is OpenSSL's name up to version 3.1, the second from 3.2 on.
  ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE: handshakeFailed,
  'ERR_SSL_SSL/TLS_ALERT_HANDSHAKE_FAILURE': handshakeFailed,
  ERR_SSL_TLSV1_UNRECOGNIZED_NAME: (host) => `${host} has no certificate for this name`,
  ERR_SSL_DH_KEY_TOO_SMALL: (host) => `${host} uses a key that is too short to be safe`,
  ERR_SSL_EE_KEY_TOO_SMALL: (host) => `${host} uses a key that is too short to be safe`,
  ECONNRESET: (host) => `${host} closed the connection during the TLS handshake`,
  EPIPE: (host) => `${host} closed the connection during the TLS handshake`,
};

const response: Texts = {
  UND_ERR_SOCKET: (host) => `${host} closed the connection before the response was complete`,
  ECONNRESET: (host) => `${host} closed the connection before the response was complete`,
  UND_ERR_HEADERS_OVERFLOW: (host) => `${host}'s response headers are too long`,
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: (host) =>
    `${host}'s response is shorter or longer than its Content-Length`,
  TOO_MANY_RESPONSES: (host) => `${host} sent more than 8 informational responses`,
  TOO_MUCH_OVERHEAD: (host) => `${host} sent too many bytes that do not belong to the image`,
  TOO_MANY_PIECES: (host) => `${host} sent the response in too many small pieces`,
};

const steps = { DNS: lookup, connect, TLS: tls, response };

/** The step of a fetch that failed, as error messages name it. */
export type FetchStep = keyof typeof steps;

/**
 * Returns an error message that ends with the code, so that users can search for it.
 *
 * @param otherwise the text for other codes
 */
export function fetchFailureText(
  step: FetchStep,
  error: unknown,
  host: string,
  otherwise: string,
): string {
  const code = findErrorCode(error);
  const known = steps[step];
  const text = code !== null && Object.hasOwn(known, code) ? known[code] : undefined;
  const what = text?.(host) ?? otherwise;
  return `The source could not be fetched (${step}): ${what}${code === null ? '' : ` (${code})`}.`;
}

/**
 * Returns the error for a lack of descriptors, which does not concern the source; null for other
 * errors.
 */
export function outOfDescriptors(error: unknown): ServiceError | null {
  const code = findErrorCode(error);
  if (code !== 'EMFILE' && code !== 'ENFILE') return null;
  return new ServiceError('overloaded', `The service has too many open files (${code}).`, error);
}

/**
 * Returns an error's code if it is an identifier, which reveals no address. OpenSSL's can contain a
 * slash.
 */
export function findErrorCode(error: unknown): string | null {
  const code = error instanceof Error && 'code' in error ? error.code : null;
  return typeof code === 'string' && /^[A-Z][A-Z0-9_/]{1,60}$/.test(code) ? code : null;
}
