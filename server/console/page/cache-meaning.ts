/** Where an image came from, by the value of `X-Cache`. */
export const cacheMeaning: Readonly<Record<string, string>> = {
  memory: 'held in memory',
  disk: 'from the disk',
  miss: 'rendered now',
};
