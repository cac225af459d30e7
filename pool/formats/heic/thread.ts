import { createRequire } from 'node:module';
import type { MainModule } from 'libheif-js/libheif-wasm/libheif.js';
import { corrupt, tooMuchMemory, unsupported } from '../errors.ts';
import { emscriptenOptions, runTask } from '../wasm/thread.ts';
import { type PngForm, type PngMetadata, pngOfRows } from './png.ts';

/** The entry point of the thread that decodes one HEIC. */

export interface HeicTask {
  readonly source: Uint8Array;
  /** Index among the images that are no thumbnails, depth or gain maps. */
  readonly page: number;
  /** The image's form according to its header. */
  readonly form: PngForm;
  readonly metadata: PngMetadata;
}

const libheif: (options: object) => MainModule = createRequire(import.meta.url)(
  'libheif-js/libheif-wasm/libheif.js',
);
const api = libheif(emscriptenOptions);

/** A plane's pixels, in rows of `stride` bytes. */
interface Plane {
  readonly id: unknown;
  readonly data: Uint8Array;
  readonly stride: number;
  readonly width: number;
  readonly height: number;
}

/** A libheif error, or a call's alternative to a result. */
interface Result {
  readonly code?: unknown;
  readonly subcode?: unknown;
  readonly message?: unknown;
}

const {
  heif_error_Ok: ok,
  heif_error_Memory_allocation_error: memory,
  heif_error_Unsupported_filetype: filetype,
  heif_error_Unsupported_feature: feature,
  heif_error_Plugin_loading_error: plugin,
} = api.heif_error_code;
const { heif_suberror_Security_limit_exceeded: limit } = api.heif_suberror_code;

/** Returns the result of a libheif call, or throws its error. */
function succeeded<T>(result: T & Result): T {
  const { code, subcode, message } = result;
  if (code === undefined || code === ok) return result;
  if (subcode === limit) throw refused(message);
  if (code === memory) throw tooMuchMemory(message);
  if (code === filetype || code === feature || code === plugin) throw refused(message);
  throw incomplete(message);
}

/**
 * The message starts with the code and subcode names, such as the memory subcode for libheif's
 * limits.
 */
const refused = (message: unknown): Error =>
  unsupported(
    `The source is a HEIF with features that are not supported (${String(message).split(': ').at(-1)?.trim()}).`,
    message,
  );

const incomplete = (cause: unknown): Error =>
  corrupt('The source has a valid HEIF header but cannot be decoded completely.', cause);

function decode({ source, page, form, metadata }: HeicTask): Buffer<ArrayBuffer> {
  const context = api.heif_context_alloc();
  const opened: Result = api.heif_context_read_from_memory(context, source);
  // The libheif of sharp has read the file, and refuses less.
  if (opened.code !== ok) throw refused(opened.message);
  // Finds the image by index, like libvips, because the file's primary item can be a thumbnail.
  const item = api.heif_context_get_list_of_top_level_image_IDs(context)[page];
  const handle = succeeded(api.heif_context_get_image_handle(context, item));
  const { heif_chroma: chroma, heif_colorspace: space, heif_channel: channel } = api;
  const layout =
    form.channels === 4 ? chroma.heif_chroma_interleaved_RGBA : chroma.heif_chroma_interleaved_RGB;
  const image = succeeded(api.heif_js_decode_image2(handle, space.heif_colorspace_RGB, layout)) as {
    readonly image: { readonly $$: { readonly ptr: number } };
    readonly channels: readonly Plane[];
  };
  // Tiles that libheif cannot decode, such as a truncated file's, are black and cause only
  // warnings.
  const warnings = readWarnings(image.image.$$.ptr).filter((code) => code !== otherCodes.value);
  if (warnings.length > 0) throw incomplete(`libheif warned: ${warnings.join(', ')}`);
  const plane = image.channels.find(({ id }) => id === channel.heif_channel_interleaved);
  // The header's size was checked; the decoded size can differ.
  if (plane === undefined || plane.width !== form.width || plane.height !== form.height) {
    throw corrupt('The decoded HEIF image does not match the size in its header.');
  }
  return pngOfRows(form, metadata, (y, row) => {
    row.set(plane.data.subarray(y * plane.stride, y * plane.stride + row.length));
  });
}

/** The video's colour codes differ from the container's, which libheif uses. */
const { heif_suberror_NCLX_colr_VUI_mismatch: otherCodes } = api.heif_suberror_code;

/**
 * Returns the codes of libheif's warnings about an image: the second of each warning's three words.
 */
function readWarnings(image: number): number[] {
  const count = api._heif_image_get_decoding_warnings(image, 0, 0, 0);
  const at = api._malloc(12 * count);
  api._heif_image_get_decoding_warnings(image, 0, at, count);
  return Array.from({ length: count }, (_, index) => api.HEAPU32[at / 4 + 3 * index + 1]);
}

void runTask(decode);
