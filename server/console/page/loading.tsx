/** A placeholder for data. */
export function Loading() {
  return (
    <p role="status" class="quiet">
      Loading …
    </p>
  );
}
