/** The page at `/docs`: Swagger UI, with the interface document that this service serves. */

type SwaggerUi = (options: Readonly<Record<string, unknown>>) => unknown;

/** Set by the viewer's script, which is no module. */
const { SwaggerUIBundle } = window as unknown as { SwaggerUIBundle: SwaggerUi };

const dark = matchMedia('(prefers-color-scheme: dark)');
const followScheme = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
followScheme();
dark.addEventListener('change', followScheme);

const response = await fetch('openapi.json', { headers: { accept: 'application/json' } });
const spec = await response.json();
// "Try it out" must reach the origin of this page: others are not allowed, and need not be reachable.
spec.servers = [{ url: new URL('.', location.href).href.replace(/\/$/, '') }];
SwaggerUIBundle({
  spec,
  dom_id: '#docs',
  deepLinking: true,
  // No request to elsewhere, and nothing of the page's URL is configuration.
  validatorUrl: null,
  queryConfigEnabled: false,
  // Keys are kept in the memory of the page only.
  persistAuthorization: false,
  defaultModelsExpandDepth: 0,
});

export {};
