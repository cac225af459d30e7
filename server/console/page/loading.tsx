/** Shown in place of data that a page waits for. */
export function Loading() {
  return (
    <p role="status" class="quiet">
      Loading …
    </p>
  );
}
