import { linkTo } from './route.ts';

const steps = [
  ['hosts', 'Allow another host', 'Images in a bucket or on a CDN come from a separate host.'],
  ['prewarm', 'Prewarm images', 'The service renders them before visitors request them.'],
  ['signing', 'Sign URLs', 'Only your backend decides which sizes of which images exist.'],
  [
    'delivery-hosts',
    'Put a CDN in front',
    'Cache a host of your own by the whole URL and by Accept: see docs/cdn.md of the package.',
  ],
] as const;

/** What users of a new project do next. */
export function NextSteps({ project }: { readonly project: string }) {
  return (
    <section aria-labelledby="next-steps">
      <h2 id="next-steps">Next steps</h2>
      <ul class="projects next-steps">
        {steps.map(([page, name, reason]) => (
          <li key={page} class="card">
            <h3>
              <a href={linkTo(`/projects/${project}/${page}`)}>{name}</a>
            </h3>
            <p class="quiet">{reason}</p>
          </li>
        ))}
      </ul>
    </section>
  );
}
