"""Claude at clouds: which one the environment names, what it needs, and the hosts by which it is reached."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

Environment = Mapping[str, str]

GATEWAY_TOKEN = "ANTHROPIC_AUTH_TOKEN"
"""What the program sends as a bearer's token where it is told not to authenticate at a cloud by itself."""
FOUNDRY_KEY = "ANTHROPIC_FOUNDRY_API_KEY"
MODEL = "ANTHROPIC_MODEL"
"""The model where neither option nor command names one: a cloud has names of its own for models."""
_AWS_FILES = {"AWS_SHARED_CREDENTIALS_FILE": ".aws/credentials", "AWS_CONFIG_FILE": ".aws/config"}
_GOOGLE_FILE = {"GOOGLE_APPLICATION_CREDENTIALS": ".config/gcloud/application_default_credentials.json"}
_AWS_REGION = ("AWS_REGION", "AWS_DEFAULT_REGION")
_NAME = re.compile(r"[A-Za-z0-9.:_-]+")


@dataclass(frozen=True)
class Cloud:
    """A cloud that serves Claude, and the names by which Claude Code knows it."""

    name: str
    title: str
    flag: str
    """Variable that sends the program there."""
    skip: str
    """Variable by which the program authenticates with a token alone, as at a gateway."""
    address_variable: str
    tokens: tuple[str, ...]
    """Variables with a token or a key, any of which authenticates by a header."""
    needed: tuple[tuple[str, ...], ...]
    """Of each group one has to be set, unless a gateway is asked."""
    settings: tuple[str, ...]
    """Further variables for the program, none of them a secret."""
    address: Callable[[Environment], str]
    """Makes its own address out of what is needed."""
    hosts: Callable[[Environment], tuple[str, ...]]
    """Further hosts that a program which authenticates by itself asks."""
    requests: tuple[str, ...]
    """As `ModelRoute.requests` has them."""
    chain: tuple[str, ...] = ()
    """Variables that authenticate together, by requests that only the program can make."""
    chain_secrets: tuple[str, ...] = ()
    """Those of `settings` and `chain` that must not be in results."""
    read_by_program: tuple[str, ...] = ()
    """Those of `tokens` that the program reads where it is told not to authenticate by itself."""
    files: Mapping[str, str] = field(default_factory=dict)
    """Variable that names a file with credentials -> where it lies in a home if the variable is not set."""


def _region(environment: Environment) -> str:
    return next((environment[name] for name in _AWS_REGION if environment.get(name)), "")


def _bedrock(environment: Environment) -> str:
    region = _region(environment)
    return f"https://bedrock-runtime{'-fips' if region.startswith('us-gov-') else ''}.{region}.amazonaws.com"


def _vertex(environment: Environment) -> str:
    region = environment.get("CLOUD_ML_REGION", "")
    if region == "global":
        return "https://aiplatform.googleapis.com/v1"
    if region in ("us", "eu"):
        return f"https://aiplatform.{region}.rep.googleapis.com/v1"
    return f"https://{region}-aiplatform.googleapis.com/v1"


def _foundry(environment: Environment) -> str:
    return f"https://{environment.get('ANTHROPIC_FOUNDRY_RESOURCE', '')}.services.ai.azure.com/anthropic"


def _amazon_hosts(environment: Environment) -> tuple[str, ...]:
    region = _region(environment)
    return tuple(f"{service}.{region}.amazonaws.com" for service in ("bedrock", "sts", "portal.sso", "oidc"))


BEDROCK = Cloud(
    name="bedrock",
    title="Amazon Bedrock",
    flag="CLAUDE_CODE_USE_BEDROCK",
    skip="CLAUDE_CODE_SKIP_BEDROCK_AUTH",
    address_variable="ANTHROPIC_BEDROCK_BASE_URL",
    tokens=("AWS_BEARER_TOKEN_BEDROCK",),
    needed=(_AWS_REGION,),
    settings=(*_AWS_REGION, "AWS_PROFILE", "AWS_SESSION_TOKEN"),
    address=_bedrock,
    hosts=_amazon_hosts,
    requests=("POST /model/*/invoke", "POST /model/*/invoke-with-response-stream", "POST /model/*/count-tokens"),
    chain=("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"),
    chain_secrets=("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"),
    read_by_program=("AWS_BEARER_TOKEN_BEDROCK",),
    files=_AWS_FILES,
)
VERTEX = Cloud(
    name="vertex",
    title="Google Vertex AI",
    flag="CLAUDE_CODE_USE_VERTEX",
    skip="CLAUDE_CODE_SKIP_VERTEX_AUTH",
    address_variable="ANTHROPIC_VERTEX_BASE_URL",
    tokens=("CLOUDSDK_AUTH_ACCESS_TOKEN",),
    needed=(("ANTHROPIC_VERTEX_PROJECT_ID",), ("CLOUD_ML_REGION",)),
    settings=("ANTHROPIC_VERTEX_PROJECT_ID", "CLOUD_ML_REGION"),
    address=_vertex,
    hosts=lambda _environment: tuple(
        f"{service}.googleapis.com" for service in ("oauth2", "sts", "iamcredentials", "www")
    ),
    requests=("POST /projects/*:rawPredict", "POST /projects/*:streamRawPredict"),
    files=_GOOGLE_FILE,
)
FOUNDRY = Cloud(
    name="foundry",
    title="Microsoft Foundry",
    flag="CLAUDE_CODE_USE_FOUNDRY",
    skip="CLAUDE_CODE_SKIP_FOUNDRY_AUTH",
    address_variable="ANTHROPIC_FOUNDRY_BASE_URL",
    tokens=(FOUNDRY_KEY, "ANTHROPIC_FOUNDRY_AUTH_TOKEN"),
    needed=(("ANTHROPIC_FOUNDRY_RESOURCE", "ANTHROPIC_FOUNDRY_BASE_URL"),),
    settings=(),
    address=_foundry,
    hosts=lambda _environment: ("login.microsoftonline.com",),
    requests=("POST /v1/messages", "POST /v1/messages/count_tokens", "GET /v1/models", "GET /v1/models/*"),
    chain=("AZURE_TENANT_ID", "AZURE_CLIENT_ID", "AZURE_CLIENT_SECRET"),
    chain_secrets=("AZURE_CLIENT_SECRET",),
    read_by_program=(FOUNDRY_KEY,),
)
CLOUDS = (BEDROCK, VERTEX, FOUNDRY)
SUPPORTED = frozenset(name for cloud in CLOUDS for name in (cloud.flag, cloud.address_variable))
"""Variables that send the program to a cloud, and are understood."""


@dataclass(frozen=True)
class AtCloud:
    """The cloud that an environment names, with what that environment says about it."""

    cloud: Cloud
    environment: Environment
    others: tuple[Cloud, ...] = ()
    """Clouds that it names as well: which of them is meant is unknown then."""

    @property
    def is_gateway(self) -> bool:
        """True if the program is told not to authenticate at the cloud by itself."""
        return is_on(self.environment.get(self.cloud.skip, ""))

    @property
    def named_address(self) -> str | None:
        """The address that the user names; `None` for the cloud's own."""
        return self.environment.get(self.cloud.address_variable, "").strip().rstrip("/") or None

    @property
    def address(self) -> str:
        """The address at which the cloud is asked."""
        return self.named_address or self.cloud.address(self.environment)

    @property
    def tokens(self) -> tuple[str, ...]:
        """Variables that may hold what authenticates by a header."""
        return (*self.cloud.tokens, GATEWAY_TOKEN) if self.is_gateway else self.cloud.tokens

    @property
    def has_token(self) -> bool:
        """True if a header is all that authenticates, so that a relay can add it."""
        return self.is_gateway or any(map(self.environment.get, self.cloud.tokens))

    @property
    def files(self) -> Mapping[str, Path]:
        """Files with credentials that there are -> by where the program gets its copy of each, relative to its home."""
        home = self.environment.get("HOME", "")
        named = {
            place: Path(self.environment.get(variable) or Path(home, place))
            for variable, place in self.cloud.files.items()
            if home or self.environment.get(variable)
        }
        return {place: path for place, path in named.items() if path.is_file()}

    @property
    def hosts(self) -> tuple[str, ...]:
        """Hosts that a sandbox without a network has to let the program reach; none where a relay carries it all."""
        if self.has_token:
            return ()
        parts = urlsplit(self.address)
        own = (parts.netloc,) if parts.scheme == "https" and parts.hostname else ()
        return (*own, *self.cloud.hosts(self.environment))

    @property
    def secrets(self) -> tuple[str, ...]:
        """Variables that the program gets, and whose values must not be in results."""
        return () if self.has_token else self.cloud.chain_secrets

    def handed_on(self, home: Path) -> Mapping[str, str]:
        """Return the variables by which the program finds the cloud, without a token and without an address.

        Args:
            home: the private home, into which files with credentials are copied.
        """
        names = self.cloud.settings if self.has_token else (*self.cloud.settings, *self.cloud.chain)
        names = tuple(name for name in names if not self.has_token or name not in self.cloud.chain_secrets)
        variables = {name: value for name in names if (value := self.environment.get(name))}
        if self.has_token:
            variables[self.cloud.skip] = "1"
        else:
            places = self.files
            variables |= {name: str(home / place) for name, place in self.cloud.files.items() if place in places}
        if self.named_address is None and self.cloud is FOUNDRY:
            variables["ANTHROPIC_FOUNDRY_RESOURCE"] = self.environment.get("ANTHROPIC_FOUNDRY_RESOURCE", "")
        return variables | {self.cloud.flag: "1"}

    def missing(self) -> tuple[str, ...]:
        """Return everything that the cloud needs and the environment lacks, in words."""
        if self.is_gateway:
            return () if self.named_address else (self.cloud.address_variable,)
        groups = (names for names in self.cloud.needed if not any(map(self.environment.get, names)))
        missing = [" or ".join(names) for names in groups]
        if not self.has_token and not self._has_chain():
            missing.append(" or ".join(self._ways()))
        return tuple(missing)

    def odd(self) -> tuple[str, ...]:
        """Return the variables whose values cannot be part of the cloud's address."""
        used = [name for names in self.cloud.needed for name in names if self.environment.get(name)]
        plain = [name for name in used if name != self.cloud.address_variable]
        return tuple(name for name in plain if not _NAME.fullmatch(self.environment[name]))

    def _has_chain(self) -> bool:
        chain = self.cloud.chain
        return bool(self.files) or (bool(chain) and all(map(self.environment.get, chain)))

    def _ways(self) -> tuple[str, ...]:
        files = tuple(f"~/{place}" for place in self.cloud.files.values())
        chain = (" with ".join(self.cloud.chain),) if self.cloud.chain else ()
        return (*self.cloud.tokens, *chain, *files)


def cloud_of(environment: Environment) -> AtCloud | None:
    """Return the cloud that an environment sends the program to; `None` if it names none."""
    named = [cloud for cloud in CLOUDS if is_on(environment.get(cloud.flag, ""))]
    return AtCloud(named[0], environment, tuple(named[1:])) if named else None


def is_on(value: str) -> bool:
    """Tell whether a variable that switches something on does so."""
    return value.strip().lower() not in ("", "0", "false", "no", "off")
