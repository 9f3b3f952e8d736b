// Generated from crds/*.yaml by `npm run generate`. Do not edit: change the YAML and generate again.

/** TON HTTP APIs for one network, served from lite servers. */
export type TonApi = {
  /** tonplane.dev/v1alpha1 or tonplane.dev/v1beta1. Both have the same form. */
  readonly apiVersion?: string;
  /** TonApi. */
  readonly kind?: string;
  readonly metadata?: Readonly<Record<string, unknown>>;
  /** What is wanted. Only network, plans, rateLimits and one source of lite servers must be given. */
  readonly spec: {
    /** The network served. Keys are issued for a network. custom is any network except mainnet and testnet. Cannot be changed. */
    readonly network: 'mainnet' | 'testnet' | 'custom';
    /** Checks that an answer passes before it is served. verified: the account is proved in its shard block, and the shard block in a masterchain block. Validators' signatures prove the masterchain block, from initBlock on. signed-head: these signatures only, for lite servers of your own. none: no check, for tests. Each value needs zeroState, here or in the referenced global config: it tells networks apart. */
    readonly trust: 'verified' | 'signed-head' | 'none';
    /** The network's first state. Lite servers that report another zero state belong to another network and are refused. Replaces the value of the referenced global config. */
    readonly zeroState?: {
      /** Root hash, base64 of 32 bytes, as zero_state.root_hash in a global config. */
      readonly rootHash: string;
      /** File hash, base64 of 32 bytes, as zero_state.file_hash in a global config. */
      readonly fileHash: string;
    };
    /** A masterchain key block that is trusted without proof; the chain of proofs starts here instead of at zeroState. Replaces the value of the referenced global config. */
    readonly initBlock?: {
      /** Sequence number in the masterchain. */
      readonly seqno: number;
      /** Root hash, base64 of 32 bytes. */
      readonly rootHash: string;
      /** File hash, base64 of 32 bytes. */
      readonly fileHash: string;
    };
    /** The service's image. Unset, the image of the operator's release. */
    readonly image?: {
      /** Registry and repository, without tag. */
      readonly repository?: string;
      /** Tag; ignored when digest is set. */
      readonly tag?: string;
      /** Digest; wins over tag. */
      readonly digest?: string;
      /** When the image is pulled. */
      readonly pullPolicy: 'Always' | 'IfNotPresent' | 'Never';
      /** Names of Secrets with registry credentials, in the same namespace. */
      readonly pullSecrets?: readonly string[];
    };
    /** The lite servers to read from. Exactly one of this and liteServerConfigRef. */
    readonly liteServers?: readonly {
      /** Name in logs and metrics. */
      readonly name: string;
      /** host:port, 1.2.3.4:port or [v6]:port. */
      readonly address: string;
      /** Ed25519 public key, base64 of 32 bytes, as id.key in a global config. */
      readonly publicKey: string;
      /** archive: has old blocks and states; latest: recent blocks and states only. */
      readonly role: 'latest' | 'archive';
      /** Share of the reads, relative to the weights of the other lite servers. */
      readonly weight: number;
      /** Largest number of queries in progress at once, per pod. Lower while the lite server is slow. */
      readonly maxInFlight: number;
      /** Group of the lite server. A plan reads from the groups in its liteServerTiers, and from both without that field. */
      readonly tier: 'shared' | 'private';
      /** The lite server gets no reads, and is still monitored. Set it before maintenance. */
      readonly cordoned: boolean;
    }[];
    /** A ConfigMap or Secret with a global config (the ecosystem's global.config.json), read for lite servers, zero state and init block. */
    readonly liteServerConfigRef?: {
      /** Kind of the object. */
      readonly kind: 'ConfigMap' | 'Secret';
      /** Name of the object, in the same namespace. */
      readonly name: string;
      /** Key in the object's data. */
      readonly key: string;
    };
    /** Pods of the API. Ignored while autoscaling is set. */
    readonly replicas: number;
    /** Run no pods: API, canary, indexer, metadata and embedded Redis end, and so does the autoscaler. Keys, Services, the Ingress or HTTPRoute and the tables of the index stay. false brings the pods back as they were; the index then catches up. */
    readonly hibernate: boolean;
    /** Resources of the API container. The memory limit equals the request unless given; there is no CPU limit unless one is given. */
    readonly resources?: {
      /** Guaranteed amounts by resource name. */
      readonly requests?: Readonly<Record<string, number | string>>;
      /** Upper bounds by resource name. */
      readonly limits?: Readonly<Record<string, number | string>>;
    };
    /** The APIs served, and no other. v2: under /api/v2, with POST /api/v2/jsonRPC. jsonrpc: only that path. v3: under /api/v3; needs postgres. emulate: runs messages without sending them, under /api/emulate/v1; needs no postgres. stream: events of accounts and traces over SSE and WebSocket, under /api/streaming/v2; needs v3. explorer: a web application that reads these APIs, under /explorer; needs v3. */
    readonly surfaces: readonly ('v2' | 'v3' | 'jsonrpc' | 'emulate' | 'stream' | 'explorer')[];
    /** Forms of answers, for clients that expect different ones. */
    readonly api?: {
      /** The v2 API. */
      readonly v2?: {
        /** @type of every block id. Most clients check for ton.blockIdExt; some expect chain.blockIdExt. */
        readonly blockIdTag: 'ton.blockIdExt' | 'chain.blockIdExt';
        /** Serve sendQuery, sendQuerySimple, sendCellSimple, estimateFeeSimple and sendBocUnsafe too, which only the old Python service has. */
        readonly legacyOperations: boolean;
      };
      /** The v3 API. */
      readonly v3?: {
        /** Parameters that an operation does not have, and empty ones. Ignore answers without them and names them in the header X-Tonplane-Ignored. Refuse answers 422 and names them. */
        readonly unknownParameters: 'Ignore' | 'Refuse';
      };
    };
    /** Connections of surface stream. */
    readonly streaming?: {
      /** Open connections of one pod. A further connection gets 503. A connection takes up to 1 MiB while its client reads slowly. */
      readonly maxConnectionsPerPod: number;
      /** Level of signed shard blocks. Auto serves it while a lite server answers non-final queries. Off asks no lite server for it, so confirmed begins at finalized. */
      readonly confirmed: 'Auto' | 'Off';
      /** How far back a cursor resumes. */
      readonly replay?: {
        /** Time after a cut in which a cursor brings events of each level, 1m to 30m. Each pod watches for cut connections so long, and the log of levels has 20,000 records or 64 MiB at most. */
        readonly short: string;
        /** Time after a cut in which a cursor brings final events, 1h to 168h. They come from Postgres, from 259,200 blocks at most. */
        readonly final: string;
        /** Events of one resume. Then the stream ends with a cursor that goes on, so that no replay occupies a pod for long. */
        readonly events: number;
      };
      /** Events that wait for a slow client. At a bound the stream ends with code 1013, and its cursor resumes. */
      readonly queue?: {
        /** Unsent events of a connection. */
        readonly eventsPerConnection: number;
        /** Unsent bytes of a connection. An empty queue takes one event of any size, and an event has 3 MiB at most. */
        readonly bytesPerConnection: number;
        /** Unsent bytes of all connections of a pod, a part of its memory limit. Above it the longest queue ends its connection. */
        readonly bytesPerPod: number;
      };
    };
    /** Longest time of one request, 100ms to 5m, such as 10s or 1m30s. */
    readonly requestTimeout: string;
    /** Rates and bounds of callers. A key names its plan. */
    readonly plans: readonly {
      /** Name that keys and anonymousPlan refer to. */
      readonly name: string;
      /** Rate that callers may keep up, over all pods. 0 means no rate limit. */
      readonly requestsPerSecond: number;
      /** Requests at once after a pause. Unset, requestsPerSecond. */
      readonly burst?: number;
      /** Requests in one UTC day. Unset or 0 means no limit. */
      readonly requestsPerDay?: number;
      /** Requests running at once. Unset means no limit. */
      readonly maxConcurrent?: number;
      /** May read what only archive lite servers have. */
      readonly archive: boolean;
      /** Tiers of lite servers that the plan reads from. Unset, both. */
      readonly liteServerTiers?: readonly ('shared' | 'private')[];
      /** Operations that count more or less than one request. */
      readonly methodCosts?: readonly {
        /** Name of the operation, such as getAddressInformation or emulateTrace. */
        readonly method: string;
        /** Number of requests that one call counts as. 0 is free. */
        readonly cost: number;
      }[];
      /** Bounds of the virtual machine for one call. Thread time is shared among keys; all callers without a key have one share. */
      readonly getMethods?: {
        /** Gas of one get-method. Unset, 4000000. */
        readonly gas?: number;
        /** Milliseconds that one run may take, of a get-method, or of a transaction for estimateFee. Unset, 2000. */
        readonly wallMs?: number;
      };
      /** Bounds of surface stream. An unset field has one default for a key, and another for callers without a key. */
      readonly streaming?: {
        /** Open connections of a key, or of a client address without a key, over all pods. 0 refuses all. Unset, 10 with a key and 1 without. */
        readonly connections?: number;
        /** Addresses that one connection may watch. Unset, 1000 with a key and 10 without. */
        readonly addresses?: number;
        /** Traces that one connection may watch. Unset, 100 with a key and 10 without. */
        readonly traces?: number;
      };
    }[];
    /** Plan of callers without a key, counted per client address (IPv6 per /64, and 16 times as much per /48). Unset, a key is always needed. */
    readonly anonymousPlan?: string;
    /** Number of proxies in front of the pods whose X-Forwarded-For entries are trusted. With 0 the client is the address of the connection. */
    readonly trustedProxies: number;
    /** Bounds and names of the pods' listeners. */
    readonly http?: {
      /** Largest number of open connections of one address to a pod; IPv6 counts per /64. A further connection gets 503 and is closed. The address is that of the connection: behind a proxy, the address of the proxy. 0 means no limit. Unset, 1024 if trustedProxies is 0, else no limit. */
      readonly connectionsPerAddress?: number;
      /** Compress answers over 8 KiB with gzip for callers that accept it. Leave it off behind an Ingress or a Gateway that compresses. */
      readonly compression: boolean;
      /** Host names of the port of metrics, probes and status. It always answers IP addresses, localhost, *.svc, *.cluster.local and the pod's own name. Any other name gets 421: a web page cannot read the port by DNS rebinding. */
      readonly internalNames?: readonly string[];
    };
    /** Place where the limits of all pods are counted. */
    readonly rateLimits: {
      /** The Redis that counts. Exactly one of secretRef and embedded. */
      readonly redis: {
        /** Secret with the connection URL: redis:// or rediss://, with +cluster or +sentinel after the scheme for several nodes. */
        readonly secretRef?: {
          /** Name of the Secret, in the same namespace. */
          readonly name: string;
          /** Key in the Secret's data. */
          readonly key: string;
        };
        /** Authorities that sign the certificate of Redis, instead of the public authorities. The URL is rediss://, rediss+cluster:// or rediss+sentinel://. A change of the certificates needs no restart. */
        readonly caBundle?: {
          /** Secret with certificates in PEM. */
          readonly secretRef?: {
            /** Name of the Secret, in the same namespace. */
            readonly name: string;
            /** Key in the Secret's data. */
            readonly key: string;
          };
          /** ConfigMap with certificates in PEM. */
          readonly configMapRef?: {
            /** Name of the ConfigMap, in the same namespace. */
            readonly name: string;
            /** Key in the ConfigMap's data. */
            readonly key: string;
          };
        };
        /** Certificate that pods, and the operator, show to Redis, and to Sentinels. The URL is rediss://, rediss+cluster:// or rediss+sentinel://. A change of the certificate needs no restart. */
        readonly clientCertificate?: {
          /** Secret with the certificate and its private key in PEM, such as one of the type kubernetes.io/tls. */
          readonly secretRef: {
            /** Name of the Secret, in the same namespace. */
            readonly name: string;
            /** Key in the Secret's data with the certificate, and its intermediates after it. */
            readonly certificate: string;
            /** Key in the Secret's data with the private key, without a passphrase. */
            readonly privateKey: string;
          };
        };
        /** The operator runs one Redis without a disk beside the API. For trials. */
        readonly embedded: boolean;
      };
      /** Rule while Redis is unavailable. Local: each pod allows its share of every limit; Open: no limits; Closed: every request is refused with 503. */
      readonly onRedisFailure: 'Local' | 'Open' | 'Closed';
    };
    /** Database of the index, by its URI or by the parts of it. Cannot be removed once set. */
    readonly postgres?: {
      /** Secret with the connection URI. */
      readonly secretRef?: {
        /** Name of the Secret, in the same namespace. */
        readonly name: string;
        /** Key in the Secret's data. */
        readonly key: string;
      };
      /** The connection from its parts, in place of secretRef. Keys have the names that CloudNativePG and external-secrets use. A change of a Secret needs no restart. */
      readonly parts?: {
        /** Host name or address. */
        readonly host: {
          /** The value itself. */
          readonly value?: string;
          /** Secret with the value. */
          readonly secretRef?: {
            /** Name of the Secret, in the same namespace. */
            readonly name: string;
            /** Key in the Secret's data. */
            readonly key: string;
          };
        };
        /** Port. Unset, 5432. */
        readonly port?: {
          /** The value itself. */
          readonly value?: string;
          /** Secret with the value. */
          readonly secretRef?: {
            /** Name of the Secret, in the same namespace. */
            readonly name: string;
            /** Key in the Secret's data. */
            readonly key: string;
          };
        };
        /** Name of the database. */
        readonly database: {
          /** The value itself. */
          readonly value?: string;
          /** Secret with the value. */
          readonly secretRef?: {
            /** Name of the Secret, in the same namespace. */
            readonly name: string;
            /** Key in the Secret's data. */
            readonly key: string;
          };
        };
        /** Name of the user. */
        readonly user: {
          /** The value itself. */
          readonly value?: string;
          /** Secret with the value. */
          readonly secretRef?: {
            /** Name of the Secret, in the same namespace. */
            readonly name: string;
            /** Key in the Secret's data. */
            readonly key: string;
          };
        };
        /** Password of the user. It may be absent with clientCertificate alone. */
        readonly password?: {
          /** Secret with the value. */
          readonly secretRef: {
            /** Name of the Secret, in the same namespace. */
            readonly name: string;
            /** Key in the Secret's data. */
            readonly key: string;
          };
        };
        /** Host of a read-only replica for the API's queries, with the same port, database and user. */
        readonly readOnlyHost?: {
          /** The value itself. */
          readonly value?: string;
          /** Secret with the value. */
          readonly secretRef?: {
            /** Name of the Secret, in the same namespace. */
            readonly name: string;
            /** Key in the Secret's data. */
            readonly key: string;
          };
        };
        /** sslmode of libpq. Unset, verify-full with caBundle, else require with clientCertificate, else prefer. */
        readonly sslMode?: 'disable' | 'allow' | 'prefer' | 'require' | 'verify-ca' | 'verify-full';
      };
      /** Secret with the URI of a read-only replica for the API's queries. Unset, the same database. */
      readonly readOnlySecretRef?: {
        /** Name of the Secret, in the same namespace. */
        readonly name: string;
        /** Key in the Secret's data. */
        readonly key: string;
      };
      /** Authorities that sign the certificate of Postgres, and of its replica, instead of the public authorities. A URI without sslmode then means sslmode=verify-full. A change of the certificates needs no restart. */
      readonly caBundle?: {
        /** Secret with certificates in PEM. */
        readonly secretRef?: {
          /** Name of the Secret, in the same namespace. */
          readonly name: string;
          /** Key in the Secret's data. */
          readonly key: string;
        };
        /** ConfigMap with certificates in PEM. */
        readonly configMapRef?: {
          /** Name of the ConfigMap, in the same namespace. */
          readonly name: string;
          /** Key in the ConfigMap's data. */
          readonly key: string;
        };
      };
      /** Certificate that pods show to Postgres, and to its replica, instead of sslcert and sslkey of a URI. Connections then always use TLS; without sslmode and caBundle, sslmode is require. A change of the certificate needs no restart. */
      readonly clientCertificate?: {
        /** Secret with the certificate and its private key in PEM, such as one of the type kubernetes.io/tls. */
        readonly secretRef: {
          /** Name of the Secret, in the same namespace. */
          readonly name: string;
          /** Key in the Secret's data with the certificate, and its intermediates after it. */
          readonly certificate: string;
          /** Key in the Secret's data with the private key, without a passphrase. */
          readonly privateKey: string;
        };
      };
      /** Schema of the tables. Cannot be changed. */
      readonly schema: string;
      /** Connections per pod. */
      readonly poolSize: number;
      /** Lag beyond which the primary answers queries in place of the read-only replica, 1s to 1h, such as 30s or 1m30s. The primary also answers while the replica fails. */
      readonly replicaMaxLag: string;
    };
    /** Writes blocks into postgres. Unset, nothing is indexed. */
    readonly indexer?: {
      /** SingleWriter: one pod writes everything; Partitioned: the past is shared among several pods. */
      readonly mode: 'SingleWriter' | 'Partitioned';
      /** Pods that share the past. Can only grow. */
      readonly partitions: number;
      /** First masterchain block of the index. Unset, the first block of the network. Cannot be changed, added or removed. */
      readonly startSeqno?: number;
      /** Resources of the indexer container. */
      readonly resources?: {
        /** Guaranteed amounts by resource name. */
        readonly requests?: Readonly<Record<string, number | string>>;
        /** Upper bounds by resource name. */
        readonly limits?: Readonly<Record<string, number | string>>;
      };
    };
    /** Fetches the off-chain metadata of tokens (names, texts, links to pictures: TEP-64) from the hosts that the tokens name. Only pods for this task reach the internet. Unset, no such host is called. Private addresses are never called. */
    readonly tokenMetadata?: {
      /** Base URL of a public IPFS gateway, such as https://ipfs.io. ipfs://CID/PATH is fetched from /ipfs/CID/PATH below it. Unset, tokens with metadata in IPFS stay without metadata. */
      readonly ipfsGateway?: string;
      /** Authorities that sign the certificate of ipfsGateway, besides the public authorities. Private addresses are still never called. A change of the certificates needs no restart. */
      readonly caBundle?: {
        /** Secret with certificates in PEM. */
        readonly secretRef?: {
          /** Name of the Secret, in the same namespace. */
          readonly name: string;
          /** Key in the Secret's data. */
          readonly key: string;
        };
        /** ConfigMap with certificates in PEM. */
        readonly configMapRef?: {
          /** Name of the ConfigMap, in the same namespace. */
          readonly name: string;
          /** Key in the ConfigMap's data. */
          readonly key: string;
        };
      };
      /** Pods that share the queue. */
      readonly replicas: number;
      /** Fetches in progress at once in a pod. */
      readonly concurrency: number;
      /** Fetches in progress at once in a pod from one host, the gateway included. */
      readonly concurrencyPerHost: number;
      /** Resources of the metadata container. */
      readonly resources?: {
        /** Guaranteed amounts by resource name. */
        readonly requests?: Readonly<Record<string, number | string>>;
        /** Upper bounds by resource name. */
        readonly limits?: Readonly<Record<string, number | string>>;
      };
    };
    /** Changes the number of API pods with the load. Unset, replicas sets the number. */
    readonly autoscaling?: {
      /** Kind of the autoscaler. */
      readonly provider: 'HPA' | 'KEDA';
      /** Smallest number of pods. */
      readonly minReplicas: number;
      /** Largest number of pods. */
      readonly maxReplicas: number;
      /** Percent of the CPU request that pods should use on average. Needs metrics-server only. */
      readonly targetCPUUtilization?: number;
      /** Requests a second that a pod should serve on average. An HPA needs a cluster that serves the metric ton_requests_per_second. KEDA needs operator.prometheusUrl of the chart tonplane. The condition ScalingActive reports what is missing. */
      readonly targetRequestsPerSecond?: number;
      /** Connections of surface stream that a pod should have on average. An HPA needs a cluster that serves the metric ton_stream_connections. KEDA needs operator.prometheusUrl of the chart tonplane. */
      readonly targetStreamConnections?: number;
      /** Time for which the load must be lower before pods are removed, such as 5m. */
      readonly scaleDownStabilization: string;
    };
    /** Way to the API from outside the cluster. Unset, only its Service. */
    readonly exposure?: {
      /** Kind of the object that the operator makes. */
      readonly kind: 'Ingress' | 'HTTPRoute';
      /** Host names. */
      readonly hosts: readonly string[];
      /** Class of the Ingress. Unset, the cluster's default. */
      readonly ingressClassName?: string;
      /** Secret with the certificate for the hosts, in the same namespace. */
      readonly tlsSecretName?: string;
      /** Gateways of the HTTPRoute. */
      readonly parentRefs?: readonly {
        /** Name of the Gateway. */
        readonly name: string;
        /** Namespace of the Gateway. Unset, the same namespace. */
        readonly namespace?: string;
        /** Listener of the Gateway. Unset, all of them. */
        readonly sectionName?: string;
      }[];
      /** Annotations of that object. */
      readonly annotations?: Readonly<Record<string, string>>;
    };
    /** The Service of the API. Any type but ClusterIP opens the port of callers alone; metrics then have a Service of their own. */
    readonly service?: {
      /** ClusterIP: inside the cluster; NodePort: on a port of every node; LoadBalancer: by a load balancer of the platform. */
      readonly type: 'ClusterIP' | 'NodePort' | 'LoadBalancer';
      /** Class of the load balancer, such as service.k8s.aws/nlb. Unset, the platform's default. Cannot be changed while type is LoadBalancer. */
      readonly loadBalancerClass?: string;
      /** Addresses that the load balancer lets in. Unset, any. */
      readonly loadBalancerSourceRanges?: readonly string[];
      /** Local: only pods of the node that gets a connection, which then see the caller's address; Cluster: any pod. Unset, Cluster. */
      readonly externalTrafficPolicy?: 'Cluster' | 'Local';
      /** ClientIP: connections of one address go to one pod; None: to any. */
      readonly sessionAffinity: 'None' | 'ClientIP';
      /** Annotations of this Service alone. They win over those of metadata. */
      readonly annotations?: Readonly<Record<string, string>>;
    };
    /** Steps of a change that needs new pods. */
    readonly rollout?: {
      /** Rolling: pod by pod; Canary: a share of the traffic first, step by step. */
      readonly strategy: 'Rolling' | 'Canary';
      /** Steps of a Canary, in order. */
      readonly steps?: readonly {
        /** Percent of the traffic that the new pods get. */
        readonly weight: number;
        /** Duration of the step, such as 5m. */
        readonly hold: string;
      }[];
      /** API and metadata pods above the wanted number while pods are replaced, such as 2 or 25%. Unset, 25%. */
      readonly maxSurge?: number | string;
      /** API and metadata pods that may be missing while pods are replaced, such as 1 or 10%. Unset, 0. */
      readonly maxUnavailable?: number | string;
      /** Share of failed requests above which a Canary is rolled back, such as 0.01. */
      readonly maxErrorRatio?: string;
      /** Seconds in which an ending pod still accepts requests, because not every caller knows yet that it ends. Then requests in progress have requestTimeout to finish. */
      readonly drainSeconds: number;
    };
    /** Who may issue keys for this API. */
    readonly keys?: {
      /** Namespaces whose TonApiKeys may refer to this TonApi. */
      readonly allowedNamespaces: 'Same' | 'Selector' | 'All';
      /** Labels of the namespaces that may, with allowedNamespaces Selector. */
      readonly selector?: {
        /** Labels a namespace must have, all of them. */
        readonly matchLabels?: Readonly<Record<string, string>>;
      };
    };
    /** Metrics, traces, logs. */
    readonly observability?: {
      /** Make a ServiceMonitor for the Prometheus operator. */
      readonly serviceMonitor: boolean;
      /** Make recording and alert rules for the Prometheus operator. */
      readonly prometheusRule: boolean;
      /** Percent of requests that must succeed, such as 99.9. Alerts are made from it. */
      readonly sloAvailability: string;
      /** Time in which a request should be answered, such as 1s. Alerts are made from it. */
      readonly sloLatency: string;
      /** OpenTelemetry traces. Unset, no traces are made. */
      readonly tracing?: {
        /** Base URL of an OTLP/HTTP collector, such as http://collector:4318. Traces go to /v1/traces below it. */
        readonly endpoint: string;
        /** Authorities that sign the certificate of the collector, instead of the public authorities. A change of the certificates needs no restart. */
        readonly caBundle?: {
          /** Secret with certificates in PEM. */
          readonly secretRef?: {
            /** Name of the Secret, in the same namespace. */
            readonly name: string;
            /** Key in the Secret's data. */
            readonly key: string;
          };
          /** ConfigMap with certificates in PEM. */
          readonly configMapRef?: {
            /** Name of the ConfigMap, in the same namespace. */
            readonly name: string;
            /** Key in the ConfigMap's data. */
            readonly key: string;
          };
        };
        /** Share of requests traced, 0 to 1. */
        readonly sampleRatio: string;
      };
      /** Least important messages that are logged. */
      readonly logLevel: 'debug' | 'info' | 'warn' | 'error';
    };
    /** Make a NetworkPolicy that lets the pods reach only what they need. */
    readonly networkPolicy: boolean;
    /** Labels and annotations of every object that is made for this TonApi. Labels and annotations of the operator itself win. */
    readonly metadata?: {
      /** Labels of all objects. */
      readonly labels?: Readonly<Record<string, string>>;
      /** Annotations of all objects. */
      readonly annotations?: Readonly<Record<string, string>>;
      /** Further labels and annotations of one kind of object, such as the labels by which a Prometheus selects its ServiceMonitors. */
      readonly kinds?: readonly {
        /** Kind of the objects. */
        readonly kind:
          | 'ConfigMap'
          | 'Deployment'
          | 'HTTPRoute'
          | 'HorizontalPodAutoscaler'
          | 'Ingress'
          | 'Job'
          | 'NetworkPolicy'
          | 'PodDisruptionBudget'
          | 'Probe'
          | 'PrometheusRule'
          | 'ScaledObject'
          | 'Secret'
          | 'Service'
          | 'ServiceAccount'
          | 'ServiceMonitor'
          | 'StatefulSet';
        /** Labels of objects of this kind. */
        readonly labels?: Readonly<Record<string, string>>;
        /** Annotations of objects of this kind. */
        readonly annotations?: Readonly<Record<string, string>>;
      }[];
    };
    /** Fields of objects made for this TonApi that others may change or remove, such as a VerticalPodAutoscaler. The operator sets them once and then leaves them. */
    readonly ignoreDifferences?: readonly {
      /** Kind of the objects. */
      readonly kind:
        | 'Deployment'
        | 'HTTPRoute'
        | 'HorizontalPodAutoscaler'
        | 'Ingress'
        | 'NetworkPolicy'
        | 'PodDisruptionBudget'
        | 'PrometheusRule'
        | 'Probe'
        | 'ScaledObject'
        | 'Service'
        | 'ServiceAccount'
        | 'ServiceMonitor'
        | 'StatefulSet';
      /** Name of the object, such as mainnet-api. Unset, all of the kind. */
      readonly name?: string;
      /** Paths of the fields, each with all below it, in the form of the operator's plan: spec.template.spec.containers[api].resources, metadata.annotations[example.com/team]. */
      readonly fields: readonly string[];
    }[];
    /** What may be set on the pods: a PodTemplateSpec, and short forms of its fields. A short form wins over the same field in metadata and spec. */
    readonly podTemplate?: {
      /** Labels and annotations of the pods, as in a PodTemplateSpec. The short forms labels and annotations win over them. */
      readonly metadata?: {
        /** Labels besides our own. */
        readonly labels?: Readonly<Record<string, string>>;
        /** Annotations besides our own. */
        readonly annotations?: Readonly<Record<string, string>>;
      };
      /** A PodSpec that is merged strategically under what the operator sets. It takes every field of a PodSpec but those that may not be set. Our containers by their names (api, indexer, metadata, migration) take env, envFrom, mounts and probe times. Sidecars run beside api, indexer and metadata, init containers in the migration too. The embedded Redis takes no container and no volume of it. The API server checks the rest with the Deployment. */
      readonly spec?: {
        /** May not be set. */
        readonly activeDeadlineSeconds?: number;
        /** May not be set. */
        readonly automountServiceAccountToken?: boolean;
        /** May not be set. */
        readonly enableServiceLinks?: boolean;
        /** May not be set. */
        readonly ephemeralContainers?: readonly Readonly<Record<string, unknown>>[];
        /** May not be set. */
        readonly hostIPC?: boolean;
        /** May not be set. */
        readonly hostNetwork?: boolean;
        /** May not be set. */
        readonly hostPID?: boolean;
        /** May not be set. */
        readonly nodeName?: string;
        /** May not be set. */
        readonly restartPolicy?: string;
        /** May not be set. podTemplate.serviceAccountName has its place. */
        readonly serviceAccount?: string;
        /** May not be set. podTemplate.serviceAccountName has its place. */
        readonly serviceAccountName?: string;
        /** May not be set. rollout.drainSeconds and requestTimeout make it. */
        readonly terminationGracePeriodSeconds?: number;
        /** Security of the pod besides what the restricted level needs, such as supplementalGroups. */
        readonly securityContext?: {
          /** May not be set. */
          readonly fsGroup?: number;
          /** May not be set. */
          readonly runAsGroup?: number;
          /** May not be set. */
          readonly runAsNonRoot?: boolean;
          /** May not be set. */
          readonly runAsUser?: number;
          /** May not be set. */
          readonly seccompProfile?: Readonly<Record<string, unknown>>;
        } & Readonly<Record<string, unknown>>;
        /** Volumes besides our own. */
        readonly volumes?: readonly ({
          /** Name of the volume; names of our own volumes are refused. */
          readonly name: string;
        } & Readonly<Record<string, unknown>>)[];
        /** Additions to our containers by their names, and sidecars. */
        readonly containers?: readonly ({
          /** api, indexer, metadata or migration for our own container; any other name is a sidecar. */
          readonly name: string;
          /** Of a sidecar. May not be set for our own containers. */
          readonly args?: readonly string[];
          /** Of a sidecar. May not be set for our own containers. */
          readonly command?: readonly string[];
          /** Of a sidecar. May not be set for our own containers. */
          readonly image?: string;
          /** Of a sidecar. May not be set for our own containers. */
          readonly imagePullPolicy?: string;
          /** Of a sidecar. May not be set for our own containers. */
          readonly ports?: readonly Readonly<Record<string, unknown>>[];
          /** Of a sidecar. May not be set for our own containers. */
          readonly resources?: Readonly<Record<string, unknown>>;
          /** Of a sidecar. May not be set for our own containers. */
          readonly restartPolicy?: string;
          /** Of a sidecar. May not be set for our own containers. */
          readonly securityContext?: Readonly<Record<string, unknown>>;
          /** Of a sidecar. May not be set for our own containers. */
          readonly stdin?: boolean;
          /** Of a sidecar. May not be set for our own containers. */
          readonly tty?: boolean;
          /** Of a sidecar. May not be set for our own containers. */
          readonly workingDir?: string;
          /** Hooks, as in a Pod. preStop of container api may not be set. */
          readonly lifecycle?: {
            /** Hook before the container ends. */
            readonly preStop?: Readonly<Record<string, unknown>>;
          } & Readonly<Record<string, unknown>>;
          /** Variables of the environment besides our own. */
          readonly env?: readonly ({
            /** Name of the variable. */
            readonly name: string;
          } & Readonly<Record<string, unknown>>)[];
          /** Mounts besides our own. */
          readonly volumeMounts?: readonly ({
            /** Where the volume is mounted. */
            readonly mountPath: string;
          } & Readonly<Record<string, unknown>>)[];
        } & Readonly<Record<string, unknown>>)[];
      } & Readonly<Record<string, unknown>>;
      /** Labels besides our own. */
      readonly labels?: Readonly<Record<string, string>>;
      /** Annotations besides our own. */
      readonly annotations?: Readonly<Record<string, string>>;
      /** Labels of the nodes that pods may run on. */
      readonly nodeSelector?: Readonly<Record<string, string>>;
      /** Taints of nodes that the pods tolerate, as in a Pod. */
      readonly tolerations?: readonly {
        /** Key of the taint. Unset, with operator Exists, every taint. */
        readonly key?: string;
        /** Equal: the taint has the value; Exists: it has any. Unset, Equal. */
        readonly operator?: 'Exists' | 'Equal';
        /** Value of the taint. */
        readonly value?: string;
        /** Effect of the taint. Unset, any. */
        readonly effect?: 'NoSchedule' | 'PreferNoSchedule' | 'NoExecute';
        /** Seconds for which a taint with effect NoExecute is tolerated. Unset, without end. */
        readonly tolerationSeconds?: number;
      }[];
      /** Affinity, as in a Pod. */
      readonly affinity?: {
        /** Nodes by their labels, as in a Pod. */
        readonly nodeAffinity?: Readonly<Record<string, unknown>>;
        /** Nodes by pods that run there, as in a Pod. */
        readonly podAffinity?: Readonly<Record<string, unknown>>;
        /** Nodes by pods that do not run there, as in a Pod. */
        readonly podAntiAffinity?: Readonly<Record<string, unknown>>;
      };
      /** Priority class of the pods. */
      readonly priorityClassName?: string;
      /** Service account of the pods. Unset, the operator makes one without a token. */
      readonly serviceAccountName?: string;
    };
  };
  /** Observed state. It changes on transitions only; nothing that moves with the chain or the traffic is here. */
  readonly status?: {
    /** Generation of the spec that this status is about. */
    readonly observedGeneration?: number;
    /** API pods that exist. */
    readonly replicas?: number;
    /** API pods that are ready. */
    readonly readyReplicas?: number;
    /** API pods of the newest template. */
    readonly updatedReplicas?: number;
    /** Label selector of the API pods, for scaling. */
    readonly selector?: string;
    /** Release that all ready pods run. */
    readonly version?: string;
    /** Hash of the configuration that all ready pods have in force. */
    readonly configHash?: string;
    /** URL of the API. */
    readonly url?: string;
    /** Healthy lite servers of all, such as 3/4. */
    readonly liteServers?: string;
    /** State of the index. More values may come. */
    readonly indexer?: 'Off' | 'Migrating' | 'CatchingUp' | 'Live' | 'Stalled';
    /** Keys in force. */
    readonly keys?: number;
    /** The rollout in progress, or the last one. */
    readonly rollout?: {
      /** Hash of the template being rolled out. */
      readonly hash?: string;
      /** Hash of the last template that was rolled out whole. */
      readonly stableHash?: string;
      /** Step of a Canary, from 0. */
      readonly step?: number;
      /** Percent of the traffic on the new pods. */
      readonly weight?: number;
    };
    /** Ready combines ReferencesResolved, Migrated, Available, ConfigApplied, IndexerLive, MetadataRunning, ScalingActive and the rollout. Progressing, Paused and Hibernated report the present state. Stalled and Reconciling are present only while True, as kstatus reads them. */
    readonly conditions?: readonly {
      /** Name of the condition. */
      readonly type: string;
      /** True, False or Unknown. */
      readonly status: 'True' | 'False' | 'Unknown';
      /** Cause, as one CamelCase word; part of the API. */
      readonly reason: string;
      /** Cause, as a sentence for a person. */
      readonly message: string;
      /** Time of the last change of the status. */
      readonly lastTransitionTime: string;
      /** Generation of the spec that this condition is about. */
      readonly observedGeneration?: number;
    }[];
  };
};

/** One customer's key for a TonApi. The key itself is put into a Secret beside this resource. */
export type TonApiKey = {
  /** tonplane.dev/v1alpha1 or tonplane.dev/v1beta1. Both have the same form. */
  readonly apiVersion?: string;
  /** TonApiKey. */
  readonly kind?: string;
  readonly metadata?: Readonly<Record<string, unknown>>;
  /** What is wanted. */
  readonly spec: {
    /** The TonApi that the key is for. Cannot be changed. */
    readonly apiRef: {
      /** Name of the TonApi. */
      readonly name: string;
      /** Namespace of the TonApi, which must allow this one by its spec.keys. Unset, the same namespace. */
      readonly namespace?: string;
    };
    /** Name of a plan of the TonApi. */
    readonly plan: string;
    /** The key is refused within seconds. With false it is valid again. */
    readonly disabled: boolean;
    /** Time at which the key expires, such as 2027-01-31T12:00:00Z. Unset, never. */
    readonly expiresAt?: string;
    /** Times at which a new key replaces the old one. Unset, never. */
    readonly rotation?: {
      /** Time between rotations, at least 1h, such as 720h. Unset, only trigger rotates. */
      readonly every?: string;
      /** Time for which the old key stays valid beside the new key. */
      readonly overlap: string;
      /** Any text; changing it rotates now. */
      readonly trigger?: string;
    };
    /** Secret that gets the key. Unset, the name of this resource. Not NAME-keyring-NUMBER. Cannot be changed, added or removed. */
    readonly secretName?: string;
    /** Operations that the key may call. Unset, all. */
    readonly allowedMethods?: readonly string[];
    /** Client addresses (CIDR) from which the key is valid. Unset, any. */
    readonly allowedSources?: readonly string[];
    /** Limits of this key, instead of the plan's values. */
    readonly overrides?: {
      /** Rate that the key may keep up. */
      readonly requestsPerSecond?: number;
      /** Requests at once after a pause. */
      readonly burst?: number;
    };
  };
  /** What is observed. Never the key, never a hash of it. */
  readonly status?: {
    /** Generation of the spec that this status is about. */
    readonly observedGeneration?: number;
    /** Public part of the valid key; safe to log. */
    readonly keyId?: string;
    /** Secret with the key. */
    readonly secretName?: string;
    /** Public parts of all keys in force; two during an overlap. */
    readonly activeKeyIds?: readonly string[];
    /** Time of the last rotation. */
    readonly lastRotationTime?: string;
    /** Time of the next rotation. */
    readonly nextRotationTime?: string;
    /** The last value of spec.rotation.trigger that caused a rotation. */
    readonly lastHandledTrigger?: string;
    /** Ready, ReferencesResolved; Stalled and Reconciling while they hold. */
    readonly conditions?: readonly {
      /** Name of the condition. */
      readonly type: string;
      /** True, False or Unknown. */
      readonly status: 'True' | 'False' | 'Unknown';
      /** Cause, as one CamelCase word; part of the API. */
      readonly reason: string;
      /** Cause, as a sentence for a person. */
      readonly message: string;
      /** Time of the last change of the status. */
      readonly lastTransitionTime: string;
      /** Generation of the spec that this condition is about. */
      readonly observedGeneration?: number;
    }[];
  };
};

/** JSON schema of a TonApi: unknown fields are refused (metadata and status are open), `uniqueBy` names the key of a list of named objects. */
export const tonApiSchema: Readonly<Record<string, unknown>> = {
  type: 'object',
  required: ['spec'],
  properties: {
    apiVersion: { type: 'string' },
    kind: { type: 'string' },
    metadata: { type: 'object' },
    spec: {
      type: 'object',
      required: ['network', 'plans', 'rateLimits'],
      properties: {
        network: { type: 'string', enum: ['mainnet', 'testnet', 'custom'] },
        trust: { type: 'string', enum: ['verified', 'signed-head', 'none'], default: 'verified' },
        zeroState: {
          type: 'object',
          required: ['rootHash', 'fileHash'],
          properties: {
            rootHash: { type: 'string', pattern: '^[A-Za-z0-9+/]{43}=$', maxLength: 44 },
            fileHash: { type: 'string', pattern: '^[A-Za-z0-9+/]{43}=$', maxLength: 44 },
          },
          additionalProperties: false,
        },
        initBlock: {
          type: 'object',
          required: ['seqno', 'rootHash', 'fileHash'],
          properties: {
            seqno: { type: 'integer', format: 'int64', minimum: 0, maximum: 2147483647 },
            rootHash: { type: 'string', pattern: '^[A-Za-z0-9+/]{43}=$', maxLength: 44 },
            fileHash: { type: 'string', pattern: '^[A-Za-z0-9+/]{43}=$', maxLength: 44 },
          },
          additionalProperties: false,
        },
        image: {
          type: 'object',
          properties: {
            repository: { type: 'string', maxLength: 255 },
            tag: { type: 'string', maxLength: 128 },
            digest: { type: 'string', pattern: '^sha256:[0-9a-f]{64}$', maxLength: 71 },
            pullPolicy: { type: 'string', enum: ['Always', 'IfNotPresent', 'Never'], default: 'IfNotPresent' },
            pullSecrets: {
              type: 'array',
              maxItems: 8,
              items: { type: 'string', maxLength: 253, pattern: '^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$' },
              uniqueItems: true,
            },
          },
          additionalProperties: false,
        },
        liteServers: {
          type: 'array',
          minItems: 1,
          maxItems: 64,
          items: {
            type: 'object',
            required: ['name', 'address', 'publicKey'],
            properties: {
              name: { type: 'string', maxLength: 63, pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$' },
              address: { type: 'string', maxLength: 259, pattern: '^([A-Za-z0-9.-]+|\\[[0-9a-fA-F:]+\\]):[0-9]{1,5}$' },
              publicKey: { type: 'string', pattern: '^[A-Za-z0-9+/]{43}=$', maxLength: 44 },
              role: { type: 'string', enum: ['latest', 'archive'], default: 'latest' },
              weight: { type: 'integer', format: 'int32', minimum: 1, maximum: 100, default: 10 },
              maxInFlight: { type: 'integer', format: 'int32', minimum: 1, maximum: 10000, default: 256 },
              tier: { type: 'string', enum: ['shared', 'private'], default: 'shared' },
              cordoned: { type: 'boolean', default: false },
            },
            additionalProperties: false,
          },
          uniqueBy: 'name',
        },
        liteServerConfigRef: {
          type: 'object',
          required: ['name'],
          properties: {
            kind: { type: 'string', enum: ['ConfigMap', 'Secret'], default: 'ConfigMap' },
            name: { type: 'string', maxLength: 253, pattern: '^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$' },
            key: { type: 'string', maxLength: 253, default: 'global.config.json' },
          },
          additionalProperties: false,
        },
        replicas: { type: 'integer', format: 'int32', minimum: 0, maximum: 500, default: 2 },
        hibernate: { type: 'boolean', default: false },
        resources: {
          type: 'object',
          properties: {
            requests: {
              type: 'object',
              maxProperties: 16,
              additionalProperties: {
                anyOf: [{ type: 'integer' }, { type: 'string' }],
                pattern: '^\\+?([0-9]+(\\.[0-9]*)?|\\.[0-9]+)([KMGTPE]i|[numkMGTPE]|[eE][+-]?[0-9]+)?$',
              },
            },
            limits: {
              type: 'object',
              maxProperties: 16,
              additionalProperties: {
                anyOf: [{ type: 'integer' }, { type: 'string' }],
                pattern: '^\\+?([0-9]+(\\.[0-9]*)?|\\.[0-9]+)([KMGTPE]i|[numkMGTPE]|[eE][+-]?[0-9]+)?$',
              },
            },
          },
          additionalProperties: false,
        },
        surfaces: {
          type: 'array',
          minItems: 1,
          maxItems: 6,
          default: ['v2'],
          items: { type: 'string', enum: ['v2', 'v3', 'jsonrpc', 'emulate', 'stream', 'explorer'] },
          uniqueItems: true,
        },
        api: {
          type: 'object',
          properties: {
            v2: {
              type: 'object',
              properties: {
                blockIdTag: { type: 'string', enum: ['ton.blockIdExt', 'chain.blockIdExt'], default: 'ton.blockIdExt' },
                legacyOperations: { type: 'boolean', default: false },
              },
              additionalProperties: false,
            },
            v3: {
              type: 'object',
              properties: { unknownParameters: { type: 'string', enum: ['Ignore', 'Refuse'], default: 'Ignore' } },
              additionalProperties: false,
            },
          },
          additionalProperties: false,
        },
        streaming: {
          type: 'object',
          properties: {
            maxConnectionsPerPod: { type: 'integer', format: 'int32', minimum: 1, maximum: 100000, default: 20000 },
            confirmed: { type: 'string', enum: ['Auto', 'Off'], default: 'Auto' },
            replay: {
              type: 'object',
              properties: {
                short: {
                  type: 'string',
                  maxLength: 16,
                  pattern: '^(0|([0-9]+(\\.[0-9]+)?(ns|us|µs|μs|ms|s|m|h))+)$',
                  format: 'duration',
                  default: '10m',
                },
                final: {
                  type: 'string',
                  maxLength: 16,
                  pattern: '^(0|([0-9]+(\\.[0-9]+)?(ns|us|µs|μs|ms|s|m|h))+)$',
                  format: 'duration',
                  default: '24h',
                },
                events: { type: 'integer', format: 'int32', minimum: 1000, maximum: 1000000, default: 100000 },
              },
              additionalProperties: false,
            },
            queue: {
              type: 'object',
              properties: {
                eventsPerConnection: { type: 'integer', format: 'int32', minimum: 16, maximum: 4096, default: 256 },
                bytesPerConnection: {
                  type: 'integer',
                  format: 'int32',
                  minimum: 65536,
                  maximum: 16777216,
                  default: 1048576,
                },
                bytesPerPod: {
                  type: 'integer',
                  format: 'int32',
                  minimum: 16777216,
                  maximum: 1073741824,
                  default: 268435456,
                },
              },
              additionalProperties: false,
            },
          },
          additionalProperties: false,
        },
        requestTimeout: {
          type: 'string',
          maxLength: 16,
          pattern: '^(0|([0-9]+(\\.[0-9]+)?(ns|us|µs|μs|ms|s|m|h))+)$',
          format: 'duration',
          default: '10s',
        },
        plans: {
          type: 'array',
          minItems: 1,
          maxItems: 32,
          items: {
            type: 'object',
            required: ['name', 'requestsPerSecond'],
            properties: {
              name: { type: 'string', maxLength: 63, pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$' },
              requestsPerSecond: { type: 'integer', format: 'int32', minimum: 0, maximum: 1000000 },
              burst: { type: 'integer', format: 'int32', minimum: 0, maximum: 2000000 },
              requestsPerDay: { type: 'integer', format: 'int64', minimum: 0, maximum: 9007199254740991 },
              maxConcurrent: { type: 'integer', format: 'int32', minimum: 1, maximum: 100000 },
              archive: { type: 'boolean', default: false },
              liteServerTiers: {
                type: 'array',
                minItems: 1,
                maxItems: 2,
                items: { type: 'string', enum: ['shared', 'private'] },
                uniqueItems: true,
              },
              methodCosts: {
                type: 'array',
                maxItems: 64,
                items: {
                  type: 'object',
                  required: ['method', 'cost'],
                  properties: {
                    method: { type: 'string', maxLength: 64 },
                    cost: { type: 'integer', format: 'int32', minimum: 0, maximum: 1000 },
                  },
                  additionalProperties: false,
                },
                uniqueBy: 'method',
              },
              getMethods: {
                type: 'object',
                properties: {
                  gas: { type: 'integer', format: 'int32', minimum: 1000, maximum: 100000000 },
                  wallMs: { type: 'integer', format: 'int32', minimum: 10, maximum: 60000 },
                },
                additionalProperties: false,
              },
              streaming: {
                type: 'object',
                properties: {
                  connections: { type: 'integer', format: 'int32', minimum: 0, maximum: 1000000 },
                  addresses: { type: 'integer', format: 'int32', minimum: 0, maximum: 10000 },
                  traces: { type: 'integer', format: 'int32', minimum: 0, maximum: 1000 },
                },
                additionalProperties: false,
              },
            },
            additionalProperties: false,
          },
          uniqueBy: 'name',
        },
        anonymousPlan: { type: 'string', maxLength: 63, pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$' },
        trustedProxies: { type: 'integer', format: 'int32', minimum: 0, maximum: 16, default: 0 },
        http: {
          type: 'object',
          properties: {
            connectionsPerAddress: { type: 'integer', format: 'int32', minimum: 0, maximum: 10000 },
            compression: { type: 'boolean', default: false },
            internalNames: {
              type: 'array',
              minItems: 1,
              maxItems: 16,
              items: { type: 'string', maxLength: 253, pattern: '^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$' },
              uniqueItems: true,
            },
          },
          additionalProperties: false,
        },
        rateLimits: {
          type: 'object',
          required: ['redis'],
          properties: {
            redis: {
              type: 'object',
              properties: {
                secretRef: {
                  type: 'object',
                  required: ['name'],
                  properties: {
                    name: { type: 'string', maxLength: 253, pattern: '^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$' },
                    key: { type: 'string', maxLength: 253, default: 'url' },
                  },
                  additionalProperties: false,
                },
                caBundle: {
                  type: 'object',
                  properties: {
                    secretRef: {
                      type: 'object',
                      required: ['name'],
                      properties: {
                        name: { type: 'string', maxLength: 253, pattern: '^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$' },
                        key: { type: 'string', maxLength: 253, default: 'ca.crt' },
                      },
                      additionalProperties: false,
                    },
                    configMapRef: {
                      type: 'object',
                      required: ['name'],
                      properties: {
                        name: { type: 'string', maxLength: 253, pattern: '^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$' },
                        key: { type: 'string', maxLength: 253, default: 'ca.crt' },
                      },
                      additionalProperties: false,
                    },
                  },
                  additionalProperties: false,
                },
                clientCertificate: {
                  type: 'object',
                  required: ['secretRef'],
                  properties: {
                    secretRef: {
                      type: 'object',
                      required: ['name'],
                      properties: {
                        name: { type: 'string', maxLength: 253, pattern: '^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$' },
                        certificate: { type: 'string', maxLength: 253, default: 'tls.crt' },
                        privateKey: { type: 'string', maxLength: 253, default: 'tls.key' },
                      },
                      additionalProperties: false,
                    },
                  },
                  additionalProperties: false,
                },
                embedded: { type: 'boolean', default: false },
              },
              additionalProperties: false,
            },
            onRedisFailure: { type: 'string', enum: ['Local', 'Open', 'Closed'], default: 'Local' },
          },
          additionalProperties: false,
        },
        postgres: {
          type: 'object',
          properties: {
            secretRef: {
              type: 'object',
              required: ['name'],
              properties: {
                name: { type: 'string', maxLength: 253, pattern: '^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$' },
                key: { type: 'string', maxLength: 253, default: 'uri' },
              },
              additionalProperties: false,
            },
            parts: {
              type: 'object',
              required: ['host', 'database', 'user'],
              properties: {
                host: {
                  type: 'object',
                  properties: {
                    value: { type: 'string', minLength: 1, maxLength: 253, pattern: '^[A-Za-z0-9.:_-]+$' },
                    secretRef: {
                      type: 'object',
                      required: ['name'],
                      properties: {
                        name: { type: 'string', maxLength: 253, pattern: '^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$' },
                        key: { type: 'string', maxLength: 253, default: 'host' },
                      },
                      additionalProperties: false,
                    },
                  },
                  additionalProperties: false,
                },
                port: {
                  type: 'object',
                  properties: {
                    value: { type: 'string', minLength: 1, maxLength: 5, pattern: '^[1-9][0-9]{0,4}$' },
                    secretRef: {
                      type: 'object',
                      required: ['name'],
                      properties: {
                        name: { type: 'string', maxLength: 253, pattern: '^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$' },
                        key: { type: 'string', maxLength: 253, default: 'port' },
                      },
                      additionalProperties: false,
                    },
                  },
                  additionalProperties: false,
                },
                database: {
                  type: 'object',
                  properties: {
                    value: { type: 'string', minLength: 1, maxLength: 253 },
                    secretRef: {
                      type: 'object',
                      required: ['name'],
                      properties: {
                        name: { type: 'string', maxLength: 253, pattern: '^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$' },
                        key: { type: 'string', maxLength: 253, default: 'dbname' },
                      },
                      additionalProperties: false,
                    },
                  },
                  additionalProperties: false,
                },
                user: {
                  type: 'object',
                  properties: {
                    value: { type: 'string', minLength: 1, maxLength: 253 },
                    secretRef: {
                      type: 'object',
                      required: ['name'],
                      properties: {
                        name: { type: 'string', maxLength: 253, pattern: '^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$' },
                        key: { type: 'string', maxLength: 253, default: 'username' },
                      },
                      additionalProperties: false,
                    },
                  },
                  additionalProperties: false,
                },
                password: {
                  type: 'object',
                  required: ['secretRef'],
                  properties: {
                    secretRef: {
                      type: 'object',
                      required: ['name'],
                      properties: {
                        name: { type: 'string', maxLength: 253, pattern: '^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$' },
                        key: { type: 'string', maxLength: 253, default: 'password' },
                      },
                      additionalProperties: false,
                    },
                  },
                  additionalProperties: false,
                },
                readOnlyHost: {
                  type: 'object',
                  properties: {
                    value: { type: 'string', minLength: 1, maxLength: 253, pattern: '^[A-Za-z0-9.:_-]+$' },
                    secretRef: {
                      type: 'object',
                      required: ['name'],
                      properties: {
                        name: { type: 'string', maxLength: 253, pattern: '^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$' },
                        key: { type: 'string', maxLength: 253, default: 'host' },
                      },
                      additionalProperties: false,
                    },
                  },
                  additionalProperties: false,
                },
                sslMode: {
                  type: 'string',
                  enum: ['disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full'],
                },
              },
              additionalProperties: false,
            },
            readOnlySecretRef: {
              type: 'object',
              required: ['name'],
              properties: {
                name: { type: 'string', maxLength: 253, pattern: '^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$' },
                key: { type: 'string', maxLength: 253, default: 'uri' },
              },
              additionalProperties: false,
            },
            caBundle: {
              type: 'object',
              properties: {
                secretRef: {
                  type: 'object',
                  required: ['name'],
                  properties: {
                    name: { type: 'string', maxLength: 253, pattern: '^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$' },
                    key: { type: 'string', maxLength: 253, default: 'ca.crt' },
                  },
                  additionalProperties: false,
                },
                configMapRef: {
                  type: 'object',
                  required: ['name'],
                  properties: {
                    name: { type: 'string', maxLength: 253, pattern: '^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$' },
                    key: { type: 'string', maxLength: 253, default: 'ca.crt' },
                  },
                  additionalProperties: false,
                },
              },
              additionalProperties: false,
            },
            clientCertificate: {
              type: 'object',
              required: ['secretRef'],
              properties: {
                secretRef: {
                  type: 'object',
                  required: ['name'],
                  properties: {
                    name: { type: 'string', maxLength: 253, pattern: '^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$' },
                    certificate: { type: 'string', maxLength: 253, default: 'tls.crt' },
                    privateKey: { type: 'string', maxLength: 253, default: 'tls.key' },
                  },
                  additionalProperties: false,
                },
              },
              additionalProperties: false,
            },
            schema: { type: 'string', maxLength: 63, pattern: '^[a-z_][a-z0-9_]*$', default: 'ton' },
            poolSize: { type: 'integer', format: 'int32', minimum: 1, maximum: 200, default: 10 },
            replicaMaxLag: {
              type: 'string',
              maxLength: 16,
              pattern: '^(0|([0-9]+(\\.[0-9]+)?(ns|us|µs|μs|ms|s|m|h))+)$',
              format: 'duration',
              default: '30s',
            },
          },
          additionalProperties: false,
        },
        indexer: {
          type: 'object',
          properties: {
            mode: { type: 'string', enum: ['SingleWriter', 'Partitioned'], default: 'SingleWriter' },
            partitions: { type: 'integer', format: 'int32', minimum: 1, maximum: 64, default: 1 },
            startSeqno: { type: 'integer', format: 'int64', minimum: 1, maximum: 2147483647 },
            resources: {
              type: 'object',
              properties: {
                requests: {
                  type: 'object',
                  maxProperties: 16,
                  additionalProperties: {
                    anyOf: [{ type: 'integer' }, { type: 'string' }],
                    pattern: '^\\+?([0-9]+(\\.[0-9]*)?|\\.[0-9]+)([KMGTPE]i|[numkMGTPE]|[eE][+-]?[0-9]+)?$',
                  },
                },
                limits: {
                  type: 'object',
                  maxProperties: 16,
                  additionalProperties: {
                    anyOf: [{ type: 'integer' }, { type: 'string' }],
                    pattern: '^\\+?([0-9]+(\\.[0-9]*)?|\\.[0-9]+)([KMGTPE]i|[numkMGTPE]|[eE][+-]?[0-9]+)?$',
                  },
                },
              },
              additionalProperties: false,
            },
          },
          additionalProperties: false,
        },
        tokenMetadata: {
          type: 'object',
          properties: {
            ipfsGateway: {
              type: 'string',
              pattern: '^https?://[A-Za-z0-9.-]+(:[1-9][0-9]{0,4})?(/[A-Za-z0-9._~/-]*)?$',
              maxLength: 255,
              format: 'uri',
            },
            caBundle: {
              type: 'object',
              properties: {
                secretRef: {
                  type: 'object',
                  required: ['name'],
                  properties: {
                    name: { type: 'string', maxLength: 253, pattern: '^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$' },
                    key: { type: 'string', maxLength: 253, default: 'ca.crt' },
                  },
                  additionalProperties: false,
                },
                configMapRef: {
                  type: 'object',
                  required: ['name'],
                  properties: {
                    name: { type: 'string', maxLength: 253, pattern: '^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$' },
                    key: { type: 'string', maxLength: 253, default: 'ca.crt' },
                  },
                  additionalProperties: false,
                },
              },
              additionalProperties: false,
            },
            replicas: { type: 'integer', format: 'int32', minimum: 1, maximum: 16, default: 1 },
            concurrency: { type: 'integer', format: 'int32', minimum: 1, maximum: 256, default: 16 },
            concurrencyPerHost: { type: 'integer', format: 'int32', minimum: 1, maximum: 64, default: 4 },
            resources: {
              type: 'object',
              properties: {
                requests: {
                  type: 'object',
                  maxProperties: 16,
                  additionalProperties: {
                    anyOf: [{ type: 'integer' }, { type: 'string' }],
                    pattern: '^\\+?([0-9]+(\\.[0-9]*)?|\\.[0-9]+)([KMGTPE]i|[numkMGTPE]|[eE][+-]?[0-9]+)?$',
                  },
                },
                limits: {
                  type: 'object',
                  maxProperties: 16,
                  additionalProperties: {
                    anyOf: [{ type: 'integer' }, { type: 'string' }],
                    pattern: '^\\+?([0-9]+(\\.[0-9]*)?|\\.[0-9]+)([KMGTPE]i|[numkMGTPE]|[eE][+-]?[0-9]+)?$',
                  },
                },
              },
              additionalProperties: false,
            },
          },
          additionalProperties: false,
        },
        autoscaling: {
          type: 'object',
          required: ['maxReplicas'],
          properties: {
            provider: { type: 'string', enum: ['HPA', 'KEDA'], default: 'HPA' },
            minReplicas: { type: 'integer', format: 'int32', minimum: 1, maximum: 500, default: 2 },
            maxReplicas: { type: 'integer', format: 'int32', minimum: 1, maximum: 500 },
            targetCPUUtilization: { type: 'integer', format: 'int32', minimum: 1, maximum: 100 },
            targetRequestsPerSecond: { type: 'integer', format: 'int32', minimum: 1, maximum: 100000 },
            targetStreamConnections: { type: 'integer', format: 'int32', minimum: 1, maximum: 100000 },
            scaleDownStabilization: {
              type: 'string',
              maxLength: 16,
              pattern: '^(0|([0-9]+(\\.[0-9]+)?(ns|us|µs|μs|ms|s|m|h))+)$',
              format: 'duration',
              default: '5m',
            },
          },
          additionalProperties: false,
        },
        exposure: {
          type: 'object',
          required: ['kind', 'hosts'],
          properties: {
            kind: { type: 'string', enum: ['Ingress', 'HTTPRoute'] },
            hosts: {
              type: 'array',
              minItems: 1,
              maxItems: 16,
              items: {
                type: 'string',
                maxLength: 253,
                pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$',
              },
              uniqueItems: true,
            },
            ingressClassName: { type: 'string', maxLength: 63, pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$' },
            tlsSecretName: { type: 'string', maxLength: 253, pattern: '^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$' },
            parentRefs: {
              type: 'array',
              maxItems: 4,
              items: {
                type: 'object',
                required: ['name'],
                properties: {
                  name: { type: 'string', maxLength: 253, pattern: '^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$' },
                  namespace: { type: 'string', maxLength: 63, pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$' },
                  sectionName: {
                    type: 'string',
                    maxLength: 253,
                    pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$',
                  },
                },
                additionalProperties: false,
              },
            },
            annotations: {
              type: 'object',
              maxProperties: 64,
              additionalProperties: { type: 'string', maxLength: 4096 },
            },
          },
          additionalProperties: false,
        },
        service: {
          type: 'object',
          properties: {
            type: { type: 'string', enum: ['ClusterIP', 'NodePort', 'LoadBalancer'], default: 'ClusterIP' },
            loadBalancerClass: {
              type: 'string',
              maxLength: 316,
              pattern: '^([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$',
            },
            loadBalancerSourceRanges: {
              type: 'array',
              minItems: 1,
              maxItems: 64,
              items: { type: 'string', maxLength: 64, pattern: '^[0-9A-Fa-f.:]+/[0-9]{1,3}$' },
              uniqueItems: true,
            },
            externalTrafficPolicy: { type: 'string', enum: ['Cluster', 'Local'] },
            sessionAffinity: { type: 'string', enum: ['None', 'ClientIP'], default: 'None' },
            annotations: {
              type: 'object',
              maxProperties: 64,
              additionalProperties: { type: 'string', maxLength: 4096 },
            },
          },
          additionalProperties: false,
        },
        rollout: {
          type: 'object',
          properties: {
            strategy: { type: 'string', enum: ['Rolling', 'Canary'], default: 'Rolling' },
            steps: {
              type: 'array',
              maxItems: 10,
              items: {
                type: 'object',
                required: ['weight', 'hold'],
                properties: {
                  weight: { type: 'integer', format: 'int32', minimum: 1, maximum: 100 },
                  hold: {
                    type: 'string',
                    maxLength: 16,
                    pattern: '^(0|([0-9]+(\\.[0-9]+)?(ns|us|µs|μs|ms|s|m|h))+)$',
                    format: 'duration',
                  },
                },
                additionalProperties: false,
              },
            },
            maxSurge: {
              anyOf: [{ type: 'integer' }, { type: 'string' }],
              pattern: '^(0|[1-9][0-9]{0,2})%$',
              minimum: 0,
            },
            maxUnavailable: {
              anyOf: [{ type: 'integer' }, { type: 'string' }],
              pattern: '^(0|[1-9][0-9]?|100)%$',
              minimum: 0,
            },
            maxErrorRatio: { type: 'string', pattern: '^0(\\.[0-9]{1,4})?$', maxLength: 6 },
            drainSeconds: { type: 'integer', format: 'int32', minimum: 0, maximum: 600, default: 20 },
          },
          additionalProperties: false,
        },
        keys: {
          type: 'object',
          properties: {
            allowedNamespaces: { type: 'string', enum: ['Same', 'Selector', 'All'], default: 'Same' },
            selector: {
              type: 'object',
              properties: {
                matchLabels: {
                  type: 'object',
                  maxProperties: 16,
                  additionalProperties: { type: 'string', maxLength: 63 },
                },
              },
              additionalProperties: false,
            },
          },
          additionalProperties: false,
        },
        observability: {
          type: 'object',
          properties: {
            serviceMonitor: { type: 'boolean', default: false },
            prometheusRule: { type: 'boolean', default: false },
            sloAvailability: { type: 'string', pattern: '^[0-9]{2}(\\.[0-9]{1,3})?$', maxLength: 6, default: '99.9' },
            sloLatency: {
              type: 'string',
              maxLength: 16,
              pattern: '^(0|([0-9]+(\\.[0-9]+)?(ns|us|µs|μs|ms|s|m|h))+)$',
              format: 'duration',
              default: '1s',
            },
            tracing: {
              type: 'object',
              required: ['endpoint'],
              properties: {
                endpoint: { type: 'string', maxLength: 255, format: 'uri' },
                caBundle: {
                  type: 'object',
                  properties: {
                    secretRef: {
                      type: 'object',
                      required: ['name'],
                      properties: {
                        name: { type: 'string', maxLength: 253, pattern: '^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$' },
                        key: { type: 'string', maxLength: 253, default: 'ca.crt' },
                      },
                      additionalProperties: false,
                    },
                    configMapRef: {
                      type: 'object',
                      required: ['name'],
                      properties: {
                        name: { type: 'string', maxLength: 253, pattern: '^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$' },
                        key: { type: 'string', maxLength: 253, default: 'ca.crt' },
                      },
                      additionalProperties: false,
                    },
                  },
                  additionalProperties: false,
                },
                sampleRatio: { type: 'string', pattern: '^(0(\\.[0-9]+)?|1(\\.0+)?)$', maxLength: 8, default: '0.01' },
              },
              additionalProperties: false,
            },
            logLevel: { type: 'string', enum: ['debug', 'info', 'warn', 'error'], default: 'info' },
          },
          additionalProperties: false,
        },
        networkPolicy: { type: 'boolean', default: true },
        metadata: {
          type: 'object',
          properties: {
            labels: {
              type: 'object',
              maxProperties: 64,
              additionalProperties: {
                type: 'string',
                maxLength: 63,
                pattern: '^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$',
              },
            },
            annotations: {
              type: 'object',
              maxProperties: 64,
              additionalProperties: { type: 'string', maxLength: 4096 },
            },
            kinds: {
              type: 'array',
              maxItems: 16,
              items: {
                type: 'object',
                required: ['kind'],
                properties: {
                  kind: {
                    type: 'string',
                    enum: [
                      'ConfigMap',
                      'Deployment',
                      'HTTPRoute',
                      'HorizontalPodAutoscaler',
                      'Ingress',
                      'Job',
                      'NetworkPolicy',
                      'PodDisruptionBudget',
                      'Probe',
                      'PrometheusRule',
                      'ScaledObject',
                      'Secret',
                      'Service',
                      'ServiceAccount',
                      'ServiceMonitor',
                      'StatefulSet',
                    ],
                  },
                  labels: {
                    type: 'object',
                    maxProperties: 64,
                    additionalProperties: {
                      type: 'string',
                      maxLength: 63,
                      pattern: '^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$',
                    },
                  },
                  annotations: {
                    type: 'object',
                    maxProperties: 64,
                    additionalProperties: { type: 'string', maxLength: 4096 },
                  },
                },
                additionalProperties: false,
              },
              uniqueBy: 'kind',
            },
          },
          additionalProperties: false,
        },
        ignoreDifferences: {
          type: 'array',
          maxItems: 16,
          items: {
            type: 'object',
            required: ['kind', 'fields'],
            properties: {
              kind: {
                type: 'string',
                enum: [
                  'Deployment',
                  'HTTPRoute',
                  'HorizontalPodAutoscaler',
                  'Ingress',
                  'NetworkPolicy',
                  'PodDisruptionBudget',
                  'PrometheusRule',
                  'Probe',
                  'ScaledObject',
                  'Service',
                  'ServiceAccount',
                  'ServiceMonitor',
                  'StatefulSet',
                ],
              },
              name: { type: 'string', maxLength: 253, pattern: '^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$' },
              fields: {
                type: 'array',
                minItems: 1,
                maxItems: 16,
                items: {
                  type: 'string',
                  maxLength: 512,
                  pattern: '^(spec|metadata\\.labels|metadata\\.annotations)[.[].+$',
                },
                uniqueItems: true,
              },
            },
            additionalProperties: false,
          },
        },
        podTemplate: {
          type: 'object',
          properties: {
            metadata: {
              type: 'object',
              properties: {
                labels: { type: 'object', maxProperties: 64, additionalProperties: { type: 'string', maxLength: 63 } },
                annotations: {
                  type: 'object',
                  maxProperties: 64,
                  additionalProperties: { type: 'string', maxLength: 4096 },
                },
              },
              additionalProperties: false,
            },
            spec: {
              type: 'object',
              properties: {
                activeDeadlineSeconds: { type: 'integer', format: 'int64' },
                automountServiceAccountToken: { type: 'boolean' },
                enableServiceLinks: { type: 'boolean' },
                ephemeralContainers: { type: 'array', maxItems: 64, items: { type: 'object' } },
                hostIPC: { type: 'boolean' },
                hostNetwork: { type: 'boolean' },
                hostPID: { type: 'boolean' },
                nodeName: { type: 'string', maxLength: 1024 },
                restartPolicy: { type: 'string', maxLength: 1024 },
                serviceAccount: { type: 'string', maxLength: 1024 },
                serviceAccountName: { type: 'string', maxLength: 1024 },
                terminationGracePeriodSeconds: { type: 'integer', format: 'int64' },
                securityContext: {
                  type: 'object',
                  properties: {
                    fsGroup: { type: 'integer', format: 'int64' },
                    runAsGroup: { type: 'integer', format: 'int64' },
                    runAsNonRoot: { type: 'boolean' },
                    runAsUser: { type: 'integer', format: 'int64' },
                    seccompProfile: { type: 'object' },
                  },
                },
                volumes: {
                  type: 'array',
                  maxItems: 64,
                  items: {
                    type: 'object',
                    required: ['name'],
                    properties: { name: { type: 'string', maxLength: 63 } },
                  },
                  uniqueBy: 'name',
                },
                containers: {
                  type: 'array',
                  maxItems: 16,
                  items: {
                    type: 'object',
                    required: ['name'],
                    properties: {
                      name: { type: 'string', maxLength: 63 },
                      args: { type: 'array', maxItems: 256, items: { type: 'string', maxLength: 65536 } },
                      command: { type: 'array', maxItems: 256, items: { type: 'string', maxLength: 65536 } },
                      image: { type: 'string', maxLength: 1024 },
                      imagePullPolicy: { type: 'string', maxLength: 1024 },
                      ports: { type: 'array', maxItems: 64, items: { type: 'object' } },
                      resources: { type: 'object' },
                      restartPolicy: { type: 'string', maxLength: 1024 },
                      securityContext: { type: 'object' },
                      stdin: { type: 'boolean' },
                      tty: { type: 'boolean' },
                      workingDir: { type: 'string', maxLength: 1024 },
                      lifecycle: { type: 'object', properties: { preStop: { type: 'object' } } },
                      env: {
                        type: 'array',
                        maxItems: 128,
                        items: {
                          type: 'object',
                          required: ['name'],
                          properties: { name: { type: 'string', maxLength: 253 } },
                        },
                        uniqueBy: 'name',
                      },
                      volumeMounts: {
                        type: 'array',
                        maxItems: 64,
                        items: {
                          type: 'object',
                          required: ['mountPath'],
                          properties: { mountPath: { type: 'string', maxLength: 1024 } },
                        },
                        uniqueBy: 'mountPath',
                      },
                    },
                  },
                  uniqueBy: 'name',
                },
              },
            },
            labels: { type: 'object', maxProperties: 64, additionalProperties: { type: 'string', maxLength: 63 } },
            annotations: {
              type: 'object',
              maxProperties: 64,
              additionalProperties: { type: 'string', maxLength: 4096 },
            },
            nodeSelector: {
              type: 'object',
              maxProperties: 64,
              additionalProperties: { type: 'string', maxLength: 63 },
            },
            tolerations: {
              type: 'array',
              maxItems: 16,
              items: {
                type: 'object',
                properties: {
                  key: { type: 'string', minLength: 1, maxLength: 317 },
                  operator: { type: 'string', enum: ['Exists', 'Equal'] },
                  value: { type: 'string', maxLength: 63 },
                  effect: { type: 'string', enum: ['NoSchedule', 'PreferNoSchedule', 'NoExecute'] },
                  tolerationSeconds: { type: 'integer', format: 'int64' },
                },
                additionalProperties: false,
              },
            },
            affinity: {
              type: 'object',
              properties: {
                nodeAffinity: { type: 'object' },
                podAffinity: { type: 'object' },
                podAntiAffinity: { type: 'object' },
              },
              additionalProperties: false,
            },
            priorityClassName: { type: 'string', maxLength: 253, pattern: '^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$' },
            serviceAccountName: { type: 'string', maxLength: 253, pattern: '^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$' },
          },
          additionalProperties: false,
        },
      },
      additionalProperties: false,
    },
    status: { type: 'object' },
  },
  additionalProperties: false,
};

/** Paths of the fields of the spec that take effect without a restart: those with `title: hot`. */
export const hotFields = [
  'liteServers',
  'streaming.maxConnectionsPerPod',
  'streaming.confirmed',
  'streaming.replay',
  'streaming.queue',
  'plans',
  'anonymousPlan',
  'trustedProxies',
  'rateLimits.onRedisFailure',
  'observability.tracing.sampleRatio',
  'observability.logLevel',
] as const;
