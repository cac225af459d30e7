/** The origin of an image, by `X-Cache` value. */
export const cacheMeaning: Readonly<Record<string, string>> = {
  memory: 'held in memory',
  disk: 'from the disk',
  miss: 'rendered now',
};
