/** Without a page libvips opens the primary image of a HEIF, which may be another than page 0. */
export const pageOption = (page: number | null): { readonly page?: number } =>
  page === null ? {} : { page };
