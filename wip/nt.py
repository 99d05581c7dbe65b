"""Prototype: gaps between the trends of two flanks, narrowest first."""
import numpy as np, sys, time as clockmod, collections, os
sys.path.insert(0,'/work/wt/stages/src'); sys.path.insert(0,'/work/wt/stages/benchmarks')
from saddlescope.stages.noise import rising_noise, level_of, quantum, without_spikes, unrounded
from made_curves import curves
Z=float(os.environ.get('Z',5.0)); PROM=float(os.environ.get('PROM',5.0)); MINFALL=0.05
RHO=np.array([0,.2,.4,.5,.6,.7,.8,.85,.9,.93,.95,.97,.98,.99])
def cov(rho,L,k):
    """Covariance of means over L points, k blocks apart, of AR(1) noise of variance one."""
    if rho==0: return (1/L if k==0 else 0.0)
    if k==0: return ((1+rho)/(1-rho))/L-2*rho*(1-rho**L)/(L*(1-rho))**2
    return rho**((k-1)*L+1)*((1-rho**L)/(1-rho)/L)**2
def seen(rho,L): return 6*cov(rho,L,0)-8*cov(rho,L,1)+2*cov(rho,L,2)
Q=float(os.environ.get('Q',.35))
from scipy.special import ndtri
QN=ndtri(.5+Q/2)
def spread(y, level, L):
    k=len(y)//L
    m=y[:k*L].reshape(k,L).mean(1); lev=level[:k*L].reshape(k,L).mean(1)
    d=(m[:-2]-2*m[1:-1]+m[2:])/lev[1:-1]
    return np.quantile(np.abs(d),Q)/QN, k
def noise_model(y, level):
    """Share of the level and correlation of AR(1) noise that explains second differences of block means."""
    n=len(y); L=1; Ls=[];v=[];wt=[]
    while n//L>=30 and L<=4000:
        s_,k=spread(y,level,L); Ls.append(L); v.append(s_); wt.append(np.sqrt(k)); L=2*L
    v=np.array(v); wt=np.minimum(np.array(wt),30)
    if not len(v) or not np.all(v>0): return 0.0,0.0
    best=None
    for rho in RHO:
        e=np.array([np.sqrt(seen(rho,L)) for L in Ls])
        d=np.log(v/e); m=np.average(d,weights=wt); cost=np.sum(wt*(d-m)**2)
        if best is None or cost<best[0]: best=(cost,rho,np.exp(m))
    return best[2],best[1]
def flank_sums(y):
    x=np.arange(len(y),dtype=float)
    c=lambda a: np.concatenate([[0],np.cumsum(a)])
    return c(y),c(x*y)
def lines(S0,S1,start,L,at):
    """Line through y[start:start+L] (vector of starts), its value at `at`, its slope, its mean."""
    s0=S0[start+L]-S0[start]; s1=S1[start+L]-S1[start]
    xm=start+(L-1)/2; mean=s0/L; sxx=L*(L*L-1)/12
    slope=(s1-xm*s0)/sxx
    return mean+slope*(at-xm),slope,mean
def find(loss,t,log_time):
    n=len(loss); y=loss/np.abs(loss).max()
    g=quantum(y); y,_=without_spikes(y)
    if g and np.median(rising_noise(y,0))<g: y=unrounded(y,g)
    noise=rising_noise(y,0); lev=level_of(y)
    if np.quantile(noise/lev,.9)<1e-6: return None
    if log_time:
        grid=np.linspace(np.log(t[0]),np.log(t[-1]),n); y=np.interp(grid,np.log(t),y)
    from scipy.ndimage import uniform_filter1d
    lev=level_of(np.maximum(uniform_filter1d(y,max(3,n//200)),0) if y.min()>=0 else y)
    share,rho=noise_model(y,lev)
    Z=float(os.environ.get('ZF',1.3))*np.sqrt(2*np.log(n))
    S0,S1=flank_sums(y-y[-1])
    base=y[-1]
    drops=[]
    scales=[]
    L=6
    while L<=n//3:
        for r in (0,8,4,2,1):
            w=0 if r==0 else L//r
            if r and w<1: continue
            if 2*L+2*w+1<=n: scales.append((L,w))
        L=max(L+1,int(L*1.35))
    scales.sort(key=lambda s:2*s[0]+2*s[1])
    for L,w in scales:
        stride=max(1,(L+w)//12)
        at=np.arange(L+w,n-L-w,stride)
        if not len(at): continue
        for (a,b,_,_) in drops:  # windows that touch a drop that is known
            at=at[(at+w+L<a)|(at-w-L>b)]
        if not len(at): continue
        left,ls,lm=lines(S0,S1,at-w-L,L,at); right,rs,rm=lines(S0,S1,at+w,L,at)
        gap=left-right
        sig=share*np.sqrt(L*cov(rho,L,0))
        lm=np.abs(lm+base)+1e-300; rm=np.abs(rm+base)+1e-300
        unit=1/L+(w+(L-1)/2+.5)**2/(L*(L*L-1)/12)
        se=sig*np.sqrt(unit)*np.hypot(lm,rm)+1e-300
        z=gap/se
        slope=np.maximum(-ls,-rs)
        inside=(gap+0.5*(2*w+1)*(-(ls+rs)))/(2*w+1)
        slope_se=sig*np.maximum(lm,rm)/np.sqrt(L*(L*L-1)/12)
        ok=(z>Z)&(gap>MINFALL*lm)&(inside>PROM*np.maximum(slope,0*slope_se))
        while ok.any():
            i=int(np.argmax(np.where(ok,z,-np.inf)))
            c=at[i]; drops.append((c-w,c+w,c,z[i]))
            ok&=(at+w+L<c-w)|(at-w-L>c+w)
    drops.sort()
    out=[]
    for a,b,c,z in drops:
        o=type('D',(),{})(); o.at=int(c); o.w=b-a; o.z=z
        if log_time: o.time=float(np.exp(grid[c]))
        else: o.time=float(t[c])
        out.append(o)
    return out
if __name__=='__main__':
    from saddlescope.stages import find_stages
    name=sys.argv[1]; verbose=len(sys.argv)>2
    by=collections.defaultdict(collections.Counter); t0=clockmod.process_time()
    for c in curves(name):
        r=find(c.loss,c.time,c.log_time)
        found=[d.at for d in find_stages(c.loss,c.time,log_time=c.log_time).drops] if r is None else [x.time for x in r]
        T=(lambda v: np.log(v)) if c.log_time else (lambda v: v)
        pos=T(c.time); tol=0.025*(pos[-1]-pos[0]); used=set(); hit=0; miss=[]
        for d,v in zip(c.drops,c.visible):
            a,m,b=d
            cand=[i for i,f in enumerate(found) if i not in used and T(a)-tol<=T(f)<=T(b)+tol]
            if cand: used.add(cand[0]); hit+=v
            elif v:
                i=np.searchsorted(c.time,[a,b]); miss.append((round(m),int(i[1]-i[0]),round(float(c.clean[max(i[0]-5,0)]),3),round(float(c.clean[min(i[1]+5,len(c.clean)-1)]),3)))
        false=[(f,) for i,f in enumerate(found) if i not in used]
        if verbose and (miss or false): print(f"{c.family[:18]:18s} {c.noise:14s} n {len(c.loss):5d} {'log' if c.log_time else ''} miss {miss} false {[round(f[0]) for f in false]} all {[round(m) for _,m,_ in c.drops]} found {[(round(x.time),round(x.w),round(float(x.z),1)) for x in r] if r is not None else found}"[:260])
        for k in (('all',),('noise',c.noise),('family',c.family)):
            by[k].update(hit=hit,truth=sum(c.visible),hidden=len(c.drops)-sum(c.visible),false=len(false),curves=1, sfalse=len(false) if not c.drops else 0, scurves=not c.drops)
    for k,v in by.items():
        P=v['hit']/max(v['hit']+v['false']-v['sfalse'],1); R=v['hit']/max(v['truth'],1)
        print(f"{' '.join(k):36s} P {P:.3f} R {R:.3f} truth {v['truth']:4d} false/stageless {v['sfalse']/max(v['scurves'],1):.2f} curves {v['curves']}")
    print(clockmod.process_time()-t0)
