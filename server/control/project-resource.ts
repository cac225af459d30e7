import { ServiceError } from '../../contract/errors.ts';
import { canonicalHostPattern } from '../../contract/hosts.ts';
import { sourceTag } from '../../pool/inputs.ts';
import type { AddressGuard } from '../../pool/source/guard.ts';
import { Semaphore } from '../../pool/source/semaphore.ts';
import type { Callbacks } from '../../store/callbacks.ts';
import { isProjectId } from '../../store/identifiers.ts';
import type { ApiKey } from '../../store/keys.ts';
import type { Project, ProjectSettings, Projects } from '../../store/projects.ts';
import type { PurgeHooks } from '../../store/purge-hooks.ts';
import type { PurgeRecords } from '../../store/purge-records.ts';
import { allows } from '../image/access.ts';
import { cdnProjectTag, cdnSourceTag } from '../image/image-purges.ts';
import { requireProject } from '../project-cache.ts';
import { readCallback } from './callback.ts';
import {
  bareHostRule,
  privateHostError,
  readAllowedHost,
  readUrl,
  urlRule,
} from './hosts-and-urls.ts';
import { rejectInvalid } from './invalid.ts';
import { List, type PageQuery } from './list.ts';
import { projectBody } from './representation.ts';
import type { Body } from './schemas.ts';
import { excerpt } from './validation-messages.ts';

/** Bounded, because every image request searches the list. */
const maxHosts = 1_000;
const tooManyHosts = `allowedOrigins must not have more than ${maxHosts} hosts`;

/** Bounded, because a whole list is in memory. */
const maxListBytes = 16_000_000;
/** A page ends early with the project that exceeds it: the hosts of a project may take 250 KB. */
const maxPageBytes = 2_000_000;
/** Read at once for a page, of which they may be the most. */
const maxReadProjects = 50;
const tooManyProjects =
  'the projects are too many for one response: request pages, such as ?limit=100, and follow the Link header';

export interface ProjectsEnvironment {
  readonly projects: Projects;
  readonly guard: AddressGuard;
  /** Fetches and decodes a watermark as image requests do; rejects when this fails. */
  readonly checkWatermark: (project: Project, url: URL, signal: AbortSignal) => Promise<void>;
  readonly purges: Pick<PurgeRecords, 'add'>;
  /** Null when purges call no hook. */
  readonly purgeHooks: Pick<PurgeHooks, 'hold' | 'confirm'> | null;
  /** Null when the settings have no secret that signs them. */
  readonly callbacks: Callbacks | null;
  /** Called right after every change. */
  readonly onChange: (project: Project) => void;
}

export interface Purged {
  readonly id: string | null;
  readonly receipt: Body<'PurgeReceipt'>;
}

/** The projects of the control plane and of the admin command. */
export class ProjectResource {
  readonly #environment: ProjectsEnvironment;
  /**
   * One after the other, so that the projects of few are in memory. A slow client does not keep the others waiting:
   * responses that are being sent are not counted, and only the rate limit of the keys and the limit of connections
   * bound them.
   */
  readonly #wholeLists = new Semaphore(1);
  /** Few at a time for the same reason. They do not wait for whole lists, which take longer. */
  readonly #pages = new Semaphore(2);

  constructor(environment: ProjectsEnvironment) {
    this.#environment = environment;
  }

  /**
   * The projects that a key can access.
   * @param page in the order of the ids; null for all of them
   * @param signal aborts when the client disconnects
   * @throws ServiceError invalid_request for too many projects
   */
  async list(key: ApiKey, page: PageQuery | null, signal: AbortSignal): Promise<List> {
    const { projectId, allOrganisations, orgId } = key;
    const { projects } = this.#environment;
    if (page !== null && page.cursor !== null && !isProjectId(page.cursor)) {
      rejectInvalid(['cursor must be that of a Link header']);
    }
    const idOf = ({ id }: Body<'Project'>) => id;
    if (projectId !== null) {
      const project = await projects.find(projectId);
      return List.of(project === null ? [] : [projectBody(project)], idOf, page);
    }
    const organisation = allOrganisations ? null : orgId;
    return page === null
      ? this.#listAll(organisation, signal)
      : this.#listPage(organisation, page, signal);
  }

  /** By id. */
  async #listPage(
    organisation: string | null,
    { limit, cursor }: PageQuery,
    signal: AbortSignal,
  ): Promise<List> {
    const leave = await this.#pages.enter(signal);
    try {
      const texts: string[] = [];
      let bytes = 0;
      let last = cursor;
      // One more, which tells that there is a next page.
      const bounds = { after: cursor, limit: Math.min(limit + 1, maxReadProjects) };
      for await (const read of this.#environment.projects.pages(organisation, bounds)) {
        signal.throwIfAborted();
        for (const project of read) {
          if (texts.length === limit || bytes > maxPageBytes) {
            return new List(texts.join(), { limit, cursor: last });
          }
          const json = JSON.stringify(projectBody(project));
          bytes += Buffer.byteLength(json) + 1;
          texts.push(json);
          last = project._id;
        }
      }
      return new List(texts.join());
    } finally {
      leave();
    }
  }

  /** By date of creation. */
  async #listAll(organisation: string | null, signal: AbortSignal): Promise<List> {
    const leave = await this.#wholeLists.enter(signal);
    try {
      const texts: { readonly createdAt: number; readonly json: string }[] = [];
      let bytes = 0;
      for await (const page of this.#environment.projects.pages(organisation)) {
        signal.throwIfAborted();
        for (const project of page) {
          const json = JSON.stringify(projectBody(project));
          bytes += Buffer.byteLength(json) + 1;
          texts.push({ createdAt: project.createdAt.getTime(), json });
        }
        if (bytes > maxListBytes) rejectInvalid([tooManyProjects]);
      }
      texts.sort((a, b) => a.createdAt - b.createdAt);
      return new List(texts.map(({ json }) => json).join());
    } finally {
      leave();
    }
  }

  async find(id: string): Promise<Project> {
    return requireProject(id, await this.#environment.projects.find(id));
  }

  async create(input: Body<'CreateProjectInput'>, orgId: string): Promise<Project> {
    const { projects, guard } = this.#environment;
    const { name, origin, allowedOrigins = [] } = input;
    // Checked first, because reading a host takes time.
    if (allowedOrigins.length > maxHosts) rejectInvalid([tooManyHosts]);
    const errors: string[] = [];
    const hosts = new Set<string>();
    const read = (text: string, field: string) => {
      const result = readAllowedHost(text, guard);
      if ('error' in result) errors.push(`${field} ${result.error}`);
      else hosts.add(result.host);
    };
    const host = readUrl(origin)?.hostname;
    if (host === undefined) errors.push(`origin ${urlRule}`);
    else if (host.startsWith('*')) errors.push('the host of origin must be one host');
    else read(host, 'the host of origin');
    for (const [index, text] of allowedOrigins.entries()) read(text, `allowedOrigins[${index}]`);
    if (hosts.size > maxHosts) errors.push(tooManyHosts);
    rejectInvalid(errors);
    return projects.create({ orgId, name, origin, allowedOrigins: [...hosts] });
  }

  /** @param signal aborts when the client disconnects */
  async update(
    id: string,
    input: Body<'ProjectSettingsInput'>,
    signal: AbortSignal,
  ): Promise<Project> {
    const settings: { -readonly [N in keyof ProjectSettings]?: ProjectSettings[N] } = { ...input };
    if (input.maxWidth === 0) settings.maxWidth = null;
    if (input.watermarkUrl === '') settings.watermarkUrl = null;
    else if (input.watermarkUrl !== undefined) {
      await this.#checkWatermark(id, input.watermarkUrl, signal);
    }
    return this.#changed(id, await this.#environment.projects.updateSettings(id, settings));
  }

  async setFreshness(id: string, freshness: Body<'FreshnessInput'>): Promise<Project> {
    return this.#changed(id, await this.#environment.projects.setFreshness(id, freshness));
  }

  async setLimits(id: string, limits: Body<'LimitsInput'>): Promise<Project> {
    return this.#changed(id, await this.#environment.projects.setLimits(id, limits));
  }

  async addHost(id: string, { host }: Body<'DomainInput'>): Promise<Project> {
    const { projects, guard } = this.#environment;
    const result = readAllowedHost(host, guard);
    if ('error' in result) throw new ServiceError('invalid_request', `host ${result.error}.`);
    // Concurrent calls may exceed the limit by a few hosts, which does no harm.
    const { allowedOrigins } = await this.find(id);
    if (allowedOrigins.length >= maxHosts && !allowedOrigins.includes(result.host)) {
      rejectInvalid([tooManyHosts]);
    }
    return this.#changed(id, await projects.addHost(id, result.host));
  }

  /** Also removes hosts that could not be added now: the rules may have changed. */
  async removeHost(id: string, { host }: Body<'DomainInput'>): Promise<Project> {
    const entry = canonicalHostPattern(host);
    if (entry === null) throw new ServiceError('invalid_request', `host ${bareHostRule}.`);
    return this.#changed(id, await this.#environment.projects.removeHost(id, entry));
  }

  /**
   * Purges the images of sources of a project, or all of its images.
   * @returns the id by which to ask for its progress, or null if it could not be stored, and the response
   */
  async purge(id: string, input: Body<'PurgeInput'>): Promise<Purged> {
    const project = await this.find(id);
    if (input.all === false) rejectInvalid(['all must be true']);
    if (input.all && input.sources) rejectInvalid(['either sources or all is allowed, not both']);
    const watermarkTag = project.watermarkUrl && sourceTag(new URL(project.watermarkUrl));
    const errors: string[] = [];
    /** By their tags. */
    const sources = new Map<string, URL>();
    for (const [index, text] of (input.sources ?? []).entries()) {
      const source = readUrl(text);
      // The watermark's host need not be on the allowlist.
      const isUsed =
        source !== null && (allows(project, source.hostname) || sourceTag(source) === watermarkTag);
      const rule = source === null ? urlRule : 'must be on an allowed host, or the watermark';
      if (source === null || !isUsed) errors.push(`sources[${index}] (${excerpt(text)}) ${rule}`);
      else sources.set(sourceTag(source), source);
    }
    rejectInvalid(errors);
    const all = input.sources === undefined;
    const { projects, purges, purgeHooks, callbacks, guard } = this.#environment;
    const callbackUrl = await readCallback(input.callbackUrl, id, guard, callbacks);
    const projectTag = cdnProjectTag(id);
    const cdnTags = all
      ? [projectTag]
      : [...sources.values()].map((source) => cdnSourceTag(id, source));
    const hook = await purgeHooks?.hold({ projectId: id, tags: cdnTags }, projectTag);
    const purged = this.#changed(id, await projects.purge(id, all ? null : [...sources.keys()]));
    // The purge is in effect: from here on it must not fail. Without this, its hook is called later.
    if (hook !== undefined) await purgeHooks?.confirm(hook).catch(() => {});
    const sourceCount = sources.size;
    const number = purged.purges?.last ?? 0;
    const remember = async (): Promise<string> => {
      const purgeId = String(number);
      await purges.add({ projectId: id, number, sourceCount, hook: hook ?? null });
      if (callbackUrl !== null) {
        const callback = {
          projectId: id,
          url: callbackUrl,
          subject: 'purge',
          id: purgeId,
        } as const;
        await callbacks?.add(callback);
      }
      return purgeId;
    };
    return { id: await remember().catch(() => null), receipt: { accepted: true, sourceCount } };
  }

  /** Rejects a watermark that would be missing on all images; the current one is not fetched again. */
  async #checkWatermark(id: string, text: string, signal: AbortSignal): Promise<void> {
    const { guard, checkWatermark } = this.#environment;
    const url = readUrl(text);
    if (url === null) return rejectInvalid([`watermarkUrl ${urlRule}`]);
    const hostError = privateHostError(url, guard);
    if (hostError !== null) return rejectInvalid([`watermarkUrl ${hostError}`]);
    const project = await this.find(id);
    if (project.watermarkUrl === text) return;
    try {
      await checkWatermark(project, url, signal);
    } catch (error) {
      if (!(error instanceof ServiceError) || error.code === 'internal_error') throw error;
      if (error.code === 'overloaded') {
        const busy = 'The watermark could not be checked because the service is busy.';
        throw new ServiceError('overloaded', busy, error);
      }
      const reason = error.message.replace(/\.$/, '');
      rejectInvalid([`watermarkUrl must be an image that can be fetched. ${reason}`]);
    }
  }

  #changed(id: string, project: Project | null): Project {
    const changed = requireProject(id, project);
    this.#environment.onChange(changed);
    return changed;
  }
}
