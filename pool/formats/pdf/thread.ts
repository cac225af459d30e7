import { init, type WrappedPdfiumModule } from '@embedpdf/pdfium';
import { corrupt, tooLarge, tooMuchMemory, unsupported } from '../errors.ts';
import { emscriptenOptions, runTask } from '../wasm/thread.ts';

/** The entry point of the thread that opens one PDF. */

export interface PdfTask {
  readonly source: Uint8Array;
  /** The page's number, from 0. */
  readonly page: number;
  /** Size in pixels of the raster; null for the sizes only. */
  readonly raster: { readonly width: number; readonly height: number } | null;
}

/**
 * The JSON result if no raster is requested. Sizes are in points of 1/72 inch; 0 for a missing
 * page.
 */
export interface PdfSize {
  readonly pages: number;
  readonly width: number;
  readonly height: number;
}

/** Maximum objects on a page, such as lines of text or paths. A dense map contains about 50,000. */
const maxObjects = 200_000;

/** Errors of `FPDF_GetLastError` (fpdfview.h). */
const errors = { password: 4, security: 5 } as const;

/** Draws annotations, does not smooth for LCDs, and orders bytes as red, green, blue. */
const flags = 0x01 | 0x10;
/** `FPDFBitmap_BGRx`. */
const bitmapFormat = 3;
const white = 0xffffffff;

/**
 * Returns the instance's memory, which is another object after it has grown. The package's types
 * lack it.
 */
const getHeap = ({ pdfium }: WrappedPdfiumModule): Uint8Array =>
  (pdfium as unknown as { readonly HEAPU8: Uint8Array }).HEAPU8;

async function decode({ source, page, raster }: PdfTask): Promise<Buffer<ArrayBuffer>> {
  const api = await init(emscriptenOptions);
  api.FPDF_InitLibrary();
  const file = api.pdfium.wasmExports.malloc(source.byteLength);
  if (file === 0) throw tooMuchMemory('The file could not be copied.');
  getHeap(api).set(source, file);
  const document = api.FPDF_LoadMemDocument(file, source.byteLength, '');
  if (document === 0) throw openingError(api.FPDF_GetLastError());
  const pages = api.FPDF_GetPageCount(document);
  if (page >= pages) return json({ pages, width: 0, height: 0 });
  const opened = api.FPDF_LoadPage(document, page);
  if (opened === 0) throw corrupt('The page of the PDF cannot be read.');
  if (raster === null) {
    const width = api.FPDF_GetPageWidthF(opened);
    return json({ pages, width, height: api.FPDF_GetPageHeightF(opened) });
  }
  const objects = api.FPDFPage_CountObjects(opened);
  if (objects > maxObjects) {
    throw tooLarge(`The page has ${objects} objects; at most ${maxObjects} are allowed.`);
  }
  return draw(api, opened, raster);
}

/** Draws the page as RGB. */
function draw(
  api: WrappedPdfiumModule,
  page: number,
  { width, height }: NonNullable<PdfTask['raster']>,
): Buffer<ArrayBuffer> {
  const bitmap = api.FPDFBitmap_CreateEx(width, height, bitmapFormat, 0, 0);
  if (bitmap === 0) throw tooMuchMemory('The bitmap could not be allocated.');
  api.FPDFBitmap_FillRect(bitmap, 0, 0, width, height, white);
  api.FPDF_RenderPageBitmap(bitmap, page, 0, 0, width, height, 0, flags);
  const at = api.FPDFBitmap_GetBuffer(bitmap);
  const stride = api.FPDFBitmap_GetStride(bitmap);
  const from = getHeap(api);
  const pixels = Buffer.from(new ArrayBuffer(3 * width * height));
  let to = 0;
  for (let y = 0; y < height; y += 1) {
    for (let pixel = at + y * stride, end = pixel + 4 * width; pixel < end; pixel += 4) {
      pixels[to] = from[pixel] ?? 0;
      pixels[to + 1] = from[pixel + 1] ?? 0;
      pixels[to + 2] = from[pixel + 2] ?? 0;
      to += 3;
    }
  }
  return pixels;
}

function openingError(code: number): Error {
  if (code === errors.password) return unsupported('The PDF is encrypted with a password.');
  if (code === errors.security) return unsupported('The PDF is encrypted in an unsupported way.');
  return corrupt('The source cannot be read as PDF.', `error ${code} of PDFium`);
}

/** Returns the JSON in a separate ArrayBuffer, so that it can be transferred. */
function json(size: PdfSize): Buffer<ArrayBuffer> {
  return Buffer.from(new Uint8Array(Buffer.from(JSON.stringify(size))).buffer);
}

void runTask(decode);
