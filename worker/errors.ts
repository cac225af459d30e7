/** The error body of the whole service (spec part 7). */
export function apiError(code: string, message: string, hint: string) {
  return { error: message, code, message, resolution_hint: hint };
}
