import type { Collection, Document } from 'mongodb';

const pageSize = 200;

/**
 * All documents in pages, in the order of their ids: a cursor could miss some while documents are added.
 * @param range bounds of the ids
 */
export async function* pagesOf(
  collection: Collection,
  range: Document = {},
): AsyncGenerator<Document[]> {
  let bounds = range;
  for (;;) {
    const filter = Object.keys(bounds).length === 0 ? {} : { _id: bounds };
    const page = await collection
      .find(filter as Document)
      .sort({ _id: 1 })
      .limit(pageSize)
      .toArray();
    if (page.length > 0) yield page;
    if (page.length < pageSize) return;
    bounds = { ...range, $gt: page.at(-1)?._id };
  }
}
