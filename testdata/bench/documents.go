package main

// The documents of generated streams, to be filled in.
const (
	gatewayDocument = `---
# Source: bench/templates/gateway.yaml
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata:
  name: edge-%[1]d
  namespace: %[2]s
spec:
  gatewayClassName: bench
  listeners:
  - name: http
    port: 80
    protocol: HTTP
`
	serviceAccountDocument = `---
# Source: bench/templates/serviceaccount.yaml
apiVersion: v1
kind: ServiceAccount
metadata:
  name: %[1]s
  namespace: %[2]s
  labels:
    app.kubernetes.io/name: %[1]s
    app.kubernetes.io/managed-by: Helm
automountServiceAccountToken: false
`
	configMapDocument = `---
# Source: bench/templates/configmap.yaml
apiVersion: v1
kind: ConfigMap
metadata:
  name: %[1]s
  namespace: %[2]s
  labels:
    app.kubernetes.io/name: %[1]s
    app.kubernetes.io/managed-by: Helm
data:
  server.conf: |
`
	serviceDocument = `---
# Source: bench/templates/service.yaml
apiVersion: v1
kind: Service
metadata:
  name: %[1]s
  namespace: %[2]s
  labels:
    app.kubernetes.io/name: %[1]s
    app.kubernetes.io/managed-by: Helm
spec:
  selector:
    app.kubernetes.io/name: %[1]s
  ports:
  - name: http
    port: 80
    targetPort: http
`
	routeDocument = `---
# Source: bench/templates/httproute.yaml
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata:
  name: %[1]s
  namespace: %[2]s
  labels:
    app.kubernetes.io/name: %[1]s
    app.kubernetes.io/managed-by: Helm
spec:
  parentRefs:
  - name: edge-%[3]d
  hostnames:
  - %[1]s.example.com
  rules:
  - matches:
    - path: {type: PathPrefix, value: /}
    backendRefs:
    - name: %[1]s
      port: 80
`
	deploymentDocument = `---
# Source: bench/templates/deployment.yaml
apiVersion: apps/v1
kind: Deployment
metadata:
  name: %[1]s
  namespace: %[2]s
  labels:
    app.kubernetes.io/name: %[1]s
    app.kubernetes.io/managed-by: Helm
spec:
  replicas: 2
  selector:
    matchLabels:
      app.kubernetes.io/name: %[1]s
  template:
    metadata:
      labels:
        app.kubernetes.io/name: %[1]s
    spec:
      serviceAccountName: %[1]s
      containers:
      - name: server
        image: "registry.example.com/%[1]s:1.0"
        ports:
        - name: http
          containerPort: 8080
        resources:
          requests: {cpu: 100m, memory: 128Mi}
        env:
`
	definitionDocument = `---
# Source: bench/crds/%[1]s.yaml
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: %[1]s.example.com
spec:
  group: example.com
  names:
    kind: Widget
    plural: %[1]s
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              name:
                type: string
`
	fieldLines = `              field%06d:
                description: what this field of a widget is for
                type: string
`
)
