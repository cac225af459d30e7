import { ServiceError } from '../../contract/errors.ts';
import { runStage } from '../../pool/stages.ts';
import { checkSignature, checkSource } from './access.ts';
import { requireKnown, unknownWarnings } from './address.ts';
import { cacheTagHeaders, missingHeaders } from './caching.ts';
import type { DeliveryEnvironment, ImageCall } from './delivery-environment.ts';
import { readRequestAddress } from './host-address.ts';
import { withLostQuery, withMissing } from './image-errors.ts';
import { confirmProject, ImageLookup } from './image-lookup.ts';
import { readTransform, resolveTransform, type Transform } from './resolve-variant.ts';
import { redirectTo, respond, send } from './response.ts';
import { resolveSource, sourceIdentity } from './source-url.ts';

/**
 * The order of an image request that the response cache does not serve:
 *
 * 1. `ImageEndpoint.handle` (image-endpoint.ts) looks in the response cache, then calls this.
 * 2. This reads the address, finds the project, checks the access and resolves the variant.
 * 3. `ImageLookup.readOrRender` (image-lookup.ts) takes the fallback if the source fails, and omits
 *    layers that fail.
 * 4. `Engine.get` (pool/engine.ts) looks in the caches, and joins equal requests.
 * 5. `Producer.produce` (pool/producer.ts) fetches the source and the layers.
 * 6. `TransformQueue.transform` (pool/execution/) waits for a thread or a process, which runs
 *    `render` (pool/rendering/render.ts).
 * 7. `respond` (response.ts) answers, and stores the response for equal requests.
 */
export async function deliver(call: ImageCall, environment: DeliveryEnvironment): Promise<void> {
  const { request, observed, negotiated } = call;
  const { path, query } = request;
  if (call.isLoop) {
    throw new ServiceError('source_blocked', 'The source URL points back to this service.');
  }
  const { address, transform } = await runStage(observed, 'parse', () => {
    const address = readRequestAddress(path, query, call.site);
    observed.addressed(address.projectId, address.source);
    if (environment.refusesUnknown) requireKnown(address);
    return { address, transform: readTransform(address.parameters) };
  });
  const state = await runStage(observed, 'project', () =>
    confirmProject(environment.projects, address.projectId),
  );
  observed.found(state.counts);
  const { project } = state;
  const source = resolveSource(address.source, project.origin);
  observed.addressed(project._id, source);

  const background = await isBackground(call, environment);
  checkSource(project, source);
  // The token replaces the signature; clients still need a signature for the same images.
  const access = background
    ? { isSigned: true, expires: null }
    : checkSignature(project, address, path, query, environment.now());
  observed.isUnsigned = !access.isSigned;

  const lifetime = { expires: access.expires, freshness: project.freshness };
  request.errorHeaders = withMissing(request.errorHeaders, [
    ...missingHeaders(lifetime, environment.missingAgeSeconds, environment.now()),
    ...cacheTagHeaders(environment.cacheTagHeaders, project._id, [
      { identity: sourceIdentity(source, project.freshness) },
    ]),
  ]);
  const lookup = new ImageLookup(environment, { project, source, background, observed, request });
  const context = { ...call, ...access, state, source, warnings: unknownWarnings(address.unknown) };
  const deliverImage = async (transform: Transform): Promise<void> => {
    // `checkSignature` has checked the required signature, which covers the text.
    const isTrusted = background || project.requireSignedUrls;
    const wanted = resolveTransform(transform, project, address.usesHints, negotiated, isTrusted);
    const delivered = await lookup.readOrRender(wanted).catch((error: unknown) => {
      throw withLostQuery(error, address);
    });
    respond(delivered, wanted, environment, context);
  };
  switch (address.kind) {
    case 'image':
      return deliverImage(transform);
    case 'redirect':
      observed.delivered('none');
      return void send(request, redirectTo(address.location));
    case 'needsSize': {
      const facts = await lookup.getFacts(transform.options.v ?? null);
      const sized = address.resolve(facts.size, call.client);
      if (sized.kind === 'image') return deliverImage(readTransform(sized.parameters));
      const about = { parameters: new Map(), file: null, vary: 'Accept', document: sized };
      return respond(facts, about, environment, context);
    }
  }
}

async function isBackground(
  { request, backgroundToken, observed }: ImageCall,
  environment: DeliveryEnvironment,
): Promise<boolean> {
  if (backgroundToken === '') return false;
  const target = `${request.path}?${request.query}`;
  const isValid = await environment.isBackground(target, backgroundToken);
  if (isValid) observed.kind = 'background';
  return isValid;
}
