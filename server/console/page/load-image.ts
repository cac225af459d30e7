import { useEffect, useState } from 'preact/hooks';
import { Failure, failureOf } from './service.ts';
import type { SignPath } from './sign-path.ts';

/** A response of the image endpoint. */
export interface Loaded {
  /** The path of the request, relative to the page. */
  readonly path: string;
  /** The same path with its signature, if there is one. */
  readonly signedPath: string;
  /** A blob URL of the image; null for a text. */
  readonly url: string | null;
  /** The placeholder or facts; null for an image. */
  readonly text: string | null;
  readonly type: string;
  readonly bytes: number;
  /** Of one frame; 0 for a text. */
  readonly width: number;
  readonly height: number;
  /** From the request to the last byte. */
  readonly ms: number;
  /** The cache that had the image: `memory`, `disk` or `miss`. */
  readonly cache: string;
  /** The error code of the source, if the image is the fallback; else ''. */
  readonly fallback: string;
  /** How the image differs from what was requested; '' if it does not. */
  readonly warnings: string;
  /** The service's measurements by step. */
  readonly steps: ReadonlyArray<{ readonly name: string; readonly ms: number }>;
}

/** The Accept headers that `auto` distinguishes, with the formats that a browser supports. */
export const browsers = [
  ['image/avif,image/webp,image/*,*/*;q=0.8', 'AVIF and WebP'],
  ['image/webp,image/*,*/*;q=0.8', 'WebP'],
  ['image/*,*/*;q=0.8', 'neither'],
  ['image/jxl,image/avif,image/webp,image/*,*/*;q=0.8', 'JPEG XL, AVIF and WebP'],
] as const;

/** The durations of a Server-Timing header (W3C). */
function readSteps(header: string): Loaded['steps'] {
  return [...header.matchAll(/([\w-]+);dur=([\d.]+)/g)].map(([, name = '', ms = '0']) => ({
    name,
    ms: Number(ms),
  }));
}

async function fetchImage(
  path: string,
  signedPath: string,
  accept: string,
  signal: AbortSignal,
): Promise<Loaded> {
  const startedAt = performance.now();
  // The browser's cache would hide the service's.
  const response = await fetch(signedPath, { headers: { accept }, cache: 'no-store', signal });
  if (!response.ok) throw await failureOf(response);
  const blob = await response.blob();
  const ms = performance.now() - startedAt;
  const type = (response.headers.get('content-type') ?? '').split(';')[0] ?? '';
  const isImage = type.startsWith('image/');
  const url = isImage ? URL.createObjectURL(blob) : null;
  const size = url === null ? { width: 0, height: 0 } : await sizeOf(url);
  return {
    path,
    signedPath,
    url,
    type,
    ms,
    ...size,
    text: isImage ? null : await blob.text(),
    bytes: blob.size,
    cache: response.headers.get('x-cache') ?? '',
    fallback: response.headers.get('x-fallback') ?? '',
    warnings: response.headers.get('x-image-warnings') ?? '',
    steps: readSteps(response.headers.get('server-timing') ?? ''),
  };
}

async function sizeOf(url: string): Promise<{ width: number; height: number }> {
  const image = new Image();
  image.src = url;
  try {
    await image.decode();
  } catch {
    // The browser does not support the format; bytes and headers are still shown.
  }
  return { width: image.naturalWidth, height: image.naturalHeight };
}

export interface ImageState {
  readonly loading: boolean;
  /** The latest image, also while the next one is loading. */
  readonly loaded: Loaded | null;
  readonly failure: Failure | null;
}

const nothing: ImageState = { loading: false, loaded: null, failure: null };
/** A moving slider requests one image when it stops, not one for each step. */
const debounceMs = 300;

/**
 * The image at a path; loaded again when the path, its signer, the Accept header or the number of loads changes.
 * @param path null for none
 * @param sign null for a path that needs no signature
 */
export function useImage(
  path: string | null,
  accept: string,
  sign: SignPath | null,
  loads = 0,
): ImageState {
  const [state, setState] = useState(nothing);
  useEffect(() => {
    if (path === null) return setState(nothing);
    const outdated = new AbortController();
    const set = (next: (last: ImageState) => ImageState) => {
      if (!outdated.signal.aborted) setState(next);
    };
    set((last) => ({ ...last, loading: true }));
    const timer = setTimeout(() => {
      const load = async () =>
        fetchImage(path, sign === null ? path : await sign(path), accept, outdated.signal);
      load().then(
        (loaded) => set(() => ({ loading: false, loaded, failure: null })),
        (error) => set(() => ({ loading: false, loaded: null, failure: Failure.of(error) })),
      );
    }, debounceMs);
    return () => {
      clearTimeout(timer);
      outdated.abort();
    };
  }, [path, accept, sign, loads]);
  const url = state.loaded?.url ?? null;
  useEffect(() => () => void (url !== null && URL.revokeObjectURL(url)), [url]);
  return state;
}
