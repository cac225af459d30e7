/** A name, its value, and an explanation or ''. */
export type Fact = readonly [name: string, value: string, explanation: string];

export function FactList({ facts }: { readonly facts: readonly Fact[] }) {
  return (
    <dl class="facts">
      {facts.map(([name, value, explanation]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
          {explanation !== '' && <dd class="quiet">{explanation}</dd>}
        </div>
      ))}
    </dl>
  );
}
