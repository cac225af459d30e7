import type { Project } from '@image-delivery/sdk/client';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { useApp } from '../app.ts';
import { Failure, readFailure } from './service.ts';

/** Signs an image path. @throws Failure if the key has no permission to sign */
export type SignPath = (path: string) => Promise<string>;

/**
 * Returns the signer of a project's image paths, or null if the project or user does not sign URLs.
 */
export function useSignPath(project: Project | null): SignPath | null {
  const { api } = useApp().session;
  const id = project?.requireSignedUrls === true ? project.id : null;
  return useMemo(() => {
    if (api === null || id === null) return null;
    return async (path) => {
      // Page paths are relative to a prefix that a proxy can add; the API takes paths without the
      // prefix.
      const body = { url: path.replace(/^\./, '') };
      return `.${(await api.signProjectUrl({ projectId: id, ...body })).url}`;
    };
  }, [api, id]);
}

/** A response of the image endpoint. */
export type Loaded = Awaited<ReturnType<typeof fetchImage>>;

/** Where an image came from, by `X-Cache` value. */
export const cacheMeaning: Readonly<Record<string, string>> = {
  memory: 'held in memory',
  disk: 'from the disk',
  miss: 'rendered now',
};

/** What a warning in `X-Image-Warnings` means. */
export const warningMeaning: Readonly<Record<string, string>> = {
  animation_dropped: 'The image is the first frame of an animation.',
  source_incomplete: 'The source or a layer ends too early, so pixels are missing.',
  text_missing_glyphs:
    'No font contains some characters of the text, so they appear as boxes. Change the text, or give the layer another font.',
  maxbytes_exceeded: 'No output in this format is as small as maxbytes.',
};

/** The Accept headers that `auto` distinguishes, with a browser's supported formats. */
export const browsers = [
  ['image/avif,image/webp,image/*,*/*;q=0.8', 'AVIF and WebP'],
  ['image/webp,image/*,*/*;q=0.8', 'WebP'],
  ['image/*,*/*;q=0.8', 'neither'],
  ['image/jxl,image/avif,image/webp,image/*,*/*;q=0.8', 'JPEG XL, AVIF and WebP'],
] as const;

/** Excludes a request from the project's activity. */
export const imageHeaders = { 'x-image-delivery-background': 'console' } as const;

/** Returns the durations of a Server-Timing header (W3C). */
const readSteps = (header: string) =>
  [...header.matchAll(/([\w-]+);dur=([\d.]+)/g)].map(([, name = '', ms = '0']) => ({
    name,
    ms: Number(ms),
  }));

/**
 * @param path relative to the page
 * @param signedPath the same path with its signature, if any
 */
async function fetchImage(path: string, signedPath: string, accept: string, signal: AbortSignal) {
  const startedAt = performance.now();
  // The browser's cache would hide the service's.
  const headers = { ...imageHeaders, accept };
  const response = await fetch(signedPath, { headers, cache: 'no-store', signal });
  if (!response.ok) throw await readFailure(response);
  const blob = await response.blob();
  const ms = performance.now() - startedAt;
  const type = (response.headers.get('content-type') ?? '').split(';')[0] ?? '';
  const isImage = type.startsWith('image/');
  // Show the bytes and headers of a format that the browser does not support anyway.
  const { width, height } = await createImageBitmap(blob).catch(() => ({ width: 0, height: 0 }));
  return {
    path,
    signedPath,
    /** A blob URL of the image, or null for a text. */
    url: isImage ? URL.createObjectURL(blob) : null,
    /** The placeholder or facts, or null for an image. */
    text: isImage ? null : await blob.text(),
    type,
    bytes: blob.size,
    /** Of one frame, or 0 for a text. */
    width,
    height,
    /** From the request to the last byte. */
    ms,
    cache: response.headers.get('x-cache') ?? '',
    /** The source's error code if this is the fallback's image, else ''. */
    fallback: response.headers.get('x-fallback') ?? '',
    /** Differences between the image and the request, or ''. */
    warnings: response.headers.get('x-image-warnings') ?? '',
    /** The service's measurements by step. */
    steps: readSteps(response.headers.get('server-timing') ?? ''),
  };
}

export interface ImageState {
  readonly loading: boolean;
  /** The latest image, even while the next image is loading. */
  readonly loaded: Loaded | null;
  readonly failure: Failure | null;
}

const nothing: ImageState = { loading: false, loaded: null, failure: null };
/** A moving slider requests one image when it stops, instead of one per step. */
const debounceMs = 300;

/**
 * Loads the image at a path, and loads it again when the path, its signer, the Accept header or the
 * number of loads changes.
 * @param path null to load no image
 * @param sign null if the path needs no signature
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
